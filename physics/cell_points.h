#ifndef femgpu_physics_cell_points_h
#define femgpu_physics_cell_points_h

#include "physics/discretization.h"
#include "physics/point_batch.h"

#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>

#include <vector>

namespace femgpu
{
template <int dim>
using ActiveCell = typename dealii::DoFHandler<dim>::active_cell_iterator;

/// The cell of the mesh: FEValues of the scalar element know nothing of the dofs.
template <int dim>
typename dealii::Triangulation<dim>::cell_iterator
cell_of(const dealii::TriaIterator<dealii::DoFCellAccessor<dim, dim, false>> &cell)
{
  return cell;
}

/**
 * The shape functions of a cell at quadrature points in it or on a face of it, a function of the
 * space there, and what integrals over these points make of coefficients. An element of several
 * components is so many times a scalar one, whose shape functions φ_m are all that is kept.
 */
template <int dim>
class CellPoints
{
public:
  /// @p discretization outlives this object.
  explicit CellPoints(const Discretization<dim> &discretization);
  CellPoints(const CellPoints &) = delete; // the batch refers to what is in here
  CellPoints &operator=(const CellPoints &) = delete;

  /**
   * Moves to @p cell; @p fe, of the scalar element with values, points, and gradients and JxW if
   * wanted, is always the same object. Cells that are the one before, moved, keep its shape
   * functions: they take no more than their points.
   */
  void reinit(const ActiveCell<dim> &cell, dealii::FEValues<dim> &fe);
  /// Moves to a face of @p cell.
  void reinit(const ActiveCell<dim> &cell, unsigned int face, dealii::FEFaceValues<dim> &fe);
  /// @param fe is on @p cell, or a face of it with the boundary @p id
  void load(const ActiveCell<dim> &cell, const dealii::FEValuesBase<dim> &fe,
            dealii::types::boundary_id id = 0);

  /// Are shape functions and JxW those of the cell before, which this one is moved?
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
    return weights[q];
  }
  /// ∂_d φ_m(q) for all m.
  const double *gradients(const unsigned int q, const unsigned int d) const
  {
    return shape_gradients.data() + (std::size_t(q) * dim + d) * n_nodes;
  }
  /// φ_m(q) for all m.
  const double *values(const unsigned int q) const
  {
    return shape_values.data() + std::size_t(q) * n_nodes;
  }

  /// ∫ Σ_r v_r²
  double integral_of_square(const PointRows &v) const;

  /// f_i += Σ_c ∫ s_c φ_i
  void add_source(const PointTerms &s, dealii::Vector<double> &f) const;
  /// f_i −= Σ_c ∫ σ_c·∇φ_i
  void subtract_flux(const PointTerms &sigma, dealii::Vector<double> &f) const;

  /**
   * K_ij += minus the derivatives of add_source() by u_j, K_ij −= those of subtract_flux(). Where
   * the coefficients are symmetric, K is to the last bit.
   * @param sigma nullptr on faces
   */
  void add_derivatives(const PointTerms *sigma, const PointTerms &s, dealii::FullMatrix<double> &K);

  /// Adds c JxW to the weight w_i of each node; the points are the nodes of the cell or the face.
  void add_nodal_weights(const double *c, dealii::Vector<double> &w) const;

private:
  /// A coefficient of a ∂_trial φ_j ∂_test φ_i, or of φ for the number dim.
  struct Product
  {
    unsigned int test, trial;
    const double *coefficient;
    double sign;
  };

  static bool are_symmetric(const PointTerms *sigma, const PointTerms &s);
  std::vector<Product> products_of(const PointTerms *sigma, const PointTerms &s, unsigned int c,
                                   unsigned int d) const;
  std::vector<double> integrate(const double *v, const double *shapes, unsigned int rows) const;
  void integrate(const std::vector<Product> &products);
  void combine_integrals(const std::vector<Product> &products);
  void integrate_gradients();
  void add_block(unsigned int c, unsigned int d, bool mirrored,
                 dealii::FullMatrix<double> &K) const;
  const double *shapes(const unsigned int q, const unsigned int derivative) const
  {
    return derivative < dim ? gradients(q, derivative) : values(q);
  }

  bool is_like_the_one_before(const ActiveCell<dim> &cell) const;
  void keep_vertices(const ActiveCell<dim> &cell);

  unsigned int n_components, n_nodes, n_points = 0;
  bool is_given_by_vertices;                   ///< the shape of cells: their sides are not curved
  std::vector<std::vector<unsigned int>> dofs; ///< of a component, by node
  bool moved = false, has_gradients = false;
  std::vector<dealii::Tensor<1, dim>> edges;   ///< from the first vertex to the others
  std::vector<dealii::Tensor<1, dim>> offsets; ///< of the points from the first vertex
  std::vector<dealii::Point<dim>> places;
  std::vector<dealii::Tensor<1, dim>> normals;
  PointBatch<dim> points;
  std::vector<double> weights, shape_values, shape_gradients;
  std::vector<double> values_of_nodes, gradients_of_nodes; ///< the same, a row of points each
  std::vector<double> factors, block, row;                 ///< workspace
  std::vector<double> integrals; ///< ∫ ∂_a φ_m ∂_b φ_n, a block for each (a, b)
};
} // namespace femgpu

#endif
