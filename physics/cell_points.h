#ifndef femgpu_physics_cell_points_h
#define femgpu_physics_cell_points_h

#include "physics/base/point_batch.h"
#include "physics/discretization.h"

#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>

#include <map>
#include <memory>
#include <vector>

namespace femgpu
{
/// The shape functions of a scalar element and their derivatives by reference coordinates ξ.
template <int dim>
struct ShapeTable
{
  ShapeTable(const dealii::FiniteElement<dim> &element,
             const std::vector<dealii::Point<dim>> &points);

  unsigned int n_nodes, n_points;
  unsigned int row_length; ///< padded() (1 + dim) n_points
  unsigned int n_columns;  ///< padded() n_nodes
  /// Row m: φ_m at the points, behind it ∂φ_m/∂ξ_0 at them, and so on.
  std::vector<double> of_nodes;
  std::vector<double> of_points; ///< the same with a row for each number, a column for each m
  bool has_constant_gradients;
};

/**
 * Points of a cell or of its faces, a function of the space there, and what integrals over these
 * points make of coefficients. An element of several components is so many times a scalar one. Its
 * shape functions are tabulated on the reference cell alone: what physics says is brought there,
 * once for each point, and then multiplied with the tables.
 */
template <int dim>
class CellPoints
{
public:
  /// @p discretization outlives this object. Points in cells.
  CellPoints(const Discretization<dim> &discretization, const dealii::Quadrature<dim> &quadrature);
  /// Points on faces of cells.
  CellPoints(const Discretization<dim> &discretization,
             const dealii::Quadrature<dim - 1> &quadrature);
  CellPoints(const CellPoints &) = delete; // the batch refers to what is in here
  CellPoints &operator=(const CellPoints &) = delete;

  static constexpr unsigned int whole = dealii::numbers::invalid_unsigned_int;

  /// Moves to @p cell.
  void reinit(const ActiveCell<dim> &cell);
  /// Moves to other points, in @p cell, where an object for cells then stays.
  void reinit(const ActiveCell<dim> &cell, const dealii::Quadrature<dim> &quadrature);
  /// Moves to a face of @p cell, or to the child @p part of the face, where cells behind it are
  /// smaller. From both sides the points are the same, in the same order.
  void reinit(const ActiveCell<dim> &cell, unsigned int face, unsigned int part = whole);

  /// Are Jacobians and JxW those of the cell before, which this one is moved?
  bool is_moved() const
  {
    return moved;
  }

  /// Sets u and its gradients from the values of the dofs of the cell.
  void set_solution(const dealii::Vector<double> &u_cell);
  /// The same for u = 0.
  void set_zero_solution();

  const PointBatch<dim> &batch() const
  {
    return points;
  }
  unsigned int size() const
  {
    return n_points;
  }
  double JxW(const unsigned int q) const
  {
    return at->JxW[q];
  }

  /// ∫ Σ_r v_r²
  double integral_of_square(const PointRows &v) const;

  /// f_i += Σ_c ∫ s_c φ_i
  void add_source(const PointTerms &s, dealii::Vector<double> &f);
  /// f_i −= Σ_c ∫ σ_c·∇φ_i
  void subtract_flux(const PointTerms &sigma, dealii::Vector<double> &f);

  /**
   * K_ij += minus the derivatives of add_source() by u_j, K_ij −= those of subtract_flux(). Where
   * the coefficients are symmetric, K is to the last bit.
   * @param sigma nullptr on faces
   */
  void add_derivatives(const PointTerms *sigma, const PointTerms &s, dealii::FullMatrix<double> &K);

  /// s_c += Σ_d ∂_d σ_cd, of the function of the space with these values at the nodes.
  void add_divergence(const PointTerms &nodal_sigma, PointTerms &s);

  /// Adds c JxW to the weight w_i of each node; the points are the nodes of the cell or the face.
  void add_nodal_weights(const double *c, dealii::Vector<double> &w) const;

private:
  /// Points of the reference cell, and where the last cell that came there had them.
  struct Points
  {
    Points(const dealii::FiniteElement<dim> &element, const dealii::FiniteElement<dim> &geometry,
           const std::vector<dealii::Point<dim>> &points, std::vector<double> weights,
           const dealii::Tensor<1, dim> &normal);

    ShapeTable<dim> shapes, geometry;
    ShapeTable<dim> first;         ///< the shape functions at the first point alone
    std::vector<double> weights;   ///< of the reference cell
    dealii::Tensor<1, dim> normal; ///< in the reference cell, as long as its side is large
    std::vector<double> nodes;     ///< of the cell's mapping, less the first; dim rows
    std::vector<dealii::Tensor<1, dim>> offsets, normals; ///< of the points from the first node
    std::vector<double> inverses;                         ///< row b dim + a: ∂ξ_b/∂x_a
    std::vector<double> JxW;
  };

  explicit CellPoints(const Discretization<dim> &discretization);
  void set_points(const dealii::Quadrature<dim> &quadrature);
  Points &points_of(const ActiveCell<dim> &cell, unsigned int face, unsigned int part);
  void find_nodes(const ActiveCell<dim> &cell);
  bool is_at_the_same_nodes() const;
  void move_to(const ActiveCell<dim> &cell, Points &to);
  void map_points();
  void integrate(const std::vector<double> &rows, unsigned int first, unsigned int n_terms,
                 dealii::Vector<double> &f);
  static bool are_symmetric(const PointTerms *sigma, const PointTerms &s);
  bool integrate_derivatives(const PointTerms *sigma, const PointTerms &s, unsigned int c,
                             unsigned int d);
  void add_block(unsigned int c, unsigned int d, bool mirrored,
                 dealii::FullMatrix<double> &K) const;

  const dealii::FiniteElement<dim> &element; ///< of one component
  std::unique_ptr<dealii::FiniteElement<dim>> geometry;
  std::unique_ptr<dealii::FEValues<dim>> curved; ///< at the nodes of the mapping; if it has others
                                                 ///< than vertices
  dealii::Quadrature<dim - 1> on_faces;
  unsigned int n_components, n_nodes, n_points = 0;
  std::vector<std::vector<unsigned int>> dofs; ///< of a component, by node
  std::unique_ptr<Points> in_cells;
  std::map<unsigned int, Points> of_faces;
  Points *at = nullptr;

  unsigned int index = dealii::numbers::invalid_unsigned_int; ///< of the cell
  typename ActiveCell<dim>::Block block;                      ///< that block_vertices are of
  std::vector<dealii::Point<dim>> block_vertices;
  dealii::Point<dim> origin; ///< its first node
  std::vector<double> nodes; ///< the others, less the first
  bool moved = false;
  std::vector<dealii::Point<dim>> places;
  PointBatch<dim> points;
  std::vector<double> left, right, product, coefficients; ///< workspace
};
} // namespace femgpu

#endif
