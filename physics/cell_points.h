#ifndef femgpu_physics_cell_points_h
#define femgpu_physics_cell_points_h

#include "physics/base/point_batch.h"
#include "physics/discretization.h"
#include "physics/shape_table.h"

#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>

#include <map>
#include <memory>
#include <vector>

namespace femgpu
{
/**
 * Evaluates a finite element function at points of a cell or its faces, and integrates products of
 * shape functions with coefficients that are given at these points. An element of several
 * components is treated as copies of a scalar element, whose shape functions are tabulated on the
 * reference cell only: coefficients are transformed to the reference cell once for each point, and
 * then multiplied by the tables.
 */
template <int dim>
class CellPoints
{
public:
  /// Uses points in cells. @p discretization must outlive this object.
  /// @param has_second_derivatives whether the batch has second derivatives of the solution, and
  /// terms may depend on them
  CellPoints(const Discretization<dim> &discretization, const dealii::Quadrature<dim> &quadrature,
             bool has_second_derivatives = false);
  /// Uses points on faces of cells.
  CellPoints(const Discretization<dim> &discretization,
             const dealii::Quadrature<dim - 1> &quadrature);
  CellPoints(const CellPoints &) = delete; // the batch refers to members
  CellPoints &operator=(const CellPoints &) = delete;

  /// Selects the entire face instead of a subface.
  static constexpr unsigned int entire = dealii::numbers::invalid_unsigned_int;

  /// Moves to @p cell.
  void reinit(const ActiveCell<dim> &cell);
  /// Moves to @p cell and to the points of @p quadrature, which are also used for later cells.
  void reinit(const ActiveCell<dim> &cell, const dealii::Quadrature<dim> &quadrature);
  /// Moves to a face of @p cell, or to the child @p subface of the face if the cells behind the
  /// face are smaller. Both adjacent cells get the same points in the same order.
  void reinit(const ActiveCell<dim> &cell, unsigned int face, unsigned int subface = entire);

  /// Returns whether the cell is a translation of the previous one, so that both have the same
  /// Jacobians and JxW.
  bool is_translation() const
  {
    return translated;
  }

  /// Computes u and its gradients from the values of the cell's dofs.
  void set_solution(const dealii::Vector<double> &u_cell);
  /// Sets u and its gradients to zero.
  void set_zero_solution();
  /// Computes the components of a finite element function at the points, one row each, from the
  /// values of the cell's dofs.
  void evaluate(const dealii::Vector<double> &w_cell, PointRows &w) const;

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

  /// Returns ∫ Σ_r v_r² over the cell or face, with the rows v_r of @p v.
  double integral_of_square(const PointRows &v) const;

  /// Computes f_i += Σ_c ∫ s_c φ_i.
  void add_source(const PointTerms &s, dealii::Vector<double> &f);
  /// Computes f_i −= Σ_c ∫ σ_c·∇φ_i.
  void subtract_flux(const PointTerms &sigma, dealii::Vector<double> &f);

  /**
   * Computes K_ij −= ∂f_i/∂u_j, where f_i is the sum that add_source() and subtract_flux() compute.
   * If the coefficients are symmetric, K is exactly symmetric.
   * @param sigma the flux σ; nullptr on faces
   */
  void subtract_derivatives(const PointTerms *sigma, const PointTerms &s,
                            dealii::FullMatrix<double> &K);

  /// Computes s_c += Σ_d ∂_d σ_cd, where σ is the finite element function with the nodal values
  /// @p nodal_sigma.
  void add_divergence(const PointTerms &nodal_sigma, PointTerms &s);

  /// Adds c JxW to the weight w_i of each node. @pre the points are the nodes of the cell or face
  void add_nodal_weights(const double *c, dealii::Vector<double> &w) const;

private:
  /// Points of the reference cell, with their geometry in the last cell that used them.
  struct Points
  {
    Points(const dealii::FiniteElement<dim> &element, const dealii::FiniteElement<dim> &geometry,
           const std::vector<dealii::Point<dim>> &points, std::vector<double> weights,
           const dealii::Tensor<1, dim> &normal, bool has_second_derivatives);

    ShapeTable<dim> shapes, geometry;
    ShapeTable<dim> first;         ///< the shape functions at the first point only
    std::vector<double> weights;   ///< quadrature weights on the reference cell
    dealii::Tensor<1, dim> normal; ///< outward normal of length (area / area of the reference face)
    std::vector<double> nodes;     ///< nodes of the mapping, relative to the first node; dim rows
    /// Offsets of the points from the first node of the mapping, and unit normals.
    std::vector<dealii::Tensor<1, dim>> offsets, normals;
    std::vector<double> inverses; ///< inverse Jacobians; row b dim + a: ∂ξ_b/∂x_a
    std::vector<double> JxW;
    SecondDerivatives<dim> second; ///< only if there are second derivatives
  };

  explicit CellPoints(const Discretization<dim> &discretization);
  void set_points(const dealii::Quadrature<dim> &quadrature);
  Points &points_of(const ActiveCell<dim> &cell, unsigned int face, unsigned int subface);
  void find_nodes(const ActiveCell<dim> &cell);
  bool has_cached_geometry() const;
  void move_to(const ActiveCell<dim> &cell, Points &to);
  void map_points();
  void integrate(const std::vector<double> &rows, unsigned int first, unsigned int n_terms,
                 dealii::Vector<double> &f);
  static bool are_symmetric(const PointTerms *sigma, const PointTerms &s);
  bool integrate_derivatives(const PointTerms *sigma, const PointTerms &s, unsigned int c,
                             unsigned int d);
  void add_block(unsigned int c, unsigned int d, bool mirrored,
                 dealii::FullMatrix<double> &K) const;

  const dealii::FiniteElement<dim> &element; ///< the scalar element
  std::unique_ptr<dealii::FiniteElement<dim>> geometry;
  std::unique_ptr<dealii::FEValues<dim>> curved; ///< evaluates the nodes of the mapping;
                                                 ///< nullptr if all nodes are vertices
  dealii::Quadrature<dim - 1> on_faces;
  bool has_second = false; ///< whether there are second derivatives
  unsigned int n_components, n_nodes, n_points = 0;
  std::vector<std::vector<unsigned int>> dofs; ///< dofs of the cell, by component and node
  std::unique_ptr<Points> in_cells;
  std::map<unsigned int, Points> face_points;
  Points *at = nullptr;

  unsigned int index = dealii::numbers::invalid_unsigned_int; ///< index of the current cell
  typename ActiveCell<dim>::Block block;                      ///< the block of block_vertices
  std::vector<dealii::Point<dim>> block_vertices;
  dealii::Point<dim> origin; ///< the first node of the cell's mapping
  std::vector<double> nodes; ///< the nodes of the cell's mapping, relative to the first node
  bool translated = false;
  std::vector<dealii::Point<dim>> evaluation_points;
  PointBatch<dim> points;
  std::vector<double> left, right, product, coefficients; ///< workspace
};
} // namespace femgpu

#endif
