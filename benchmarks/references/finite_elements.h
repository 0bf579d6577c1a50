#ifndef femgpu_benchmarks_references_finite_elements_h
#define femgpu_benchmarks_references_finite_elements_h

#include "reference.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/base/timer.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_tools.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/affine_constraints.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/sparsity_tools.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/vector_tools.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace references
{
using namespace dealii;

/**
 * Discretises −Δu = λ e^u with FE_Q(p) on a mesh of equal squares or cubes. The quadrature points
 * of the reaction term (Gauss-Lobatto) are the nodes of the element. With their weights w,
 * R_i = (∇u, ∇φ_i) − λ w_i exp(u_i) and R' = K − λ diag(w exp(u)).
 * @tparam Algebra class with a library's types of distributed matrices and vectors
 */
template <int dim, class Algebra>
class FiniteElements
{
public:
  using Vector = typename Algebra::Vector;
  using Matrix = typename Algebra::Matrix;

  explicit FiniteElements(const Options &options)
      : lambda(options.lambda), triangulation(MPI_COMM_WORLD), fe(options.degree),
        dof_handler(triangulation)
  {
    GridGenerator::subdivided_hyper_cube(triangulation, options.cells);
    triangulation.refine_global(static_cast<int>(options.refinements));
    dof_handler.distribute_dofs(fe);
    owned = dof_handler.locally_owned_dofs();
    DoFTools::extract_locally_relevant_dofs(dof_handler, relevant);
    constraints.reinit(relevant);
    VectorTools::interpolate_boundary_values(dof_handler, 0, Functions::ZeroFunction<dim>(),
                                             constraints);
    constraints.close();
    DynamicSparsityPattern pattern(relevant);
    DoFTools::make_sparsity_pattern(dof_handler, pattern, constraints, false);
    SparsityTools::distribute_sparsity_pattern(pattern, owned, MPI_COMM_WORLD, relevant);
    K.reinit(owned, owned, pattern, MPI_COMM_WORLD);
    ghosted.reinit(owned, relevant, MPI_COMM_WORLD);
  }

  void reinit(Vector &vector) const
  {
    vector.reinit(owned, MPI_COMM_WORLD);
  }

  /// Computes R = R(u).
  void residual(const Vector &u, Vector &R)
  {
    const Clock clock(seconds);
    R = 0.;
    assemble(u, nullptr, &R);
    R.compress(VectorOperation::add);
  }

  /// Assembles jacobian() = R'(u).
  void update_jacobian(const Vector &u)
  {
    const Clock clock(seconds);
    K = 0.;
    assemble(u, &K, nullptr);
    K.compress(VectorOperation::add);
  }

  Matrix &jacobian()
  {
    return K;
  }
  double assembly_seconds() const
  {
    return seconds;
  }
  unsigned long n_dofs() const
  {
    return dof_handler.n_dofs();
  }

  double max(const Vector &u) const
  {
    double largest = std::numeric_limits<double>::lowest();
    for (const auto i : owned)
      largest = std::max(largest, static_cast<double>(u(i)));
    return Utilities::MPI::max(largest, MPI_COMM_WORLD);
  }

  void write(const std::string &file, const Vector &u) const
  {
    std::map<types::global_dof_index, Point<dim>> points;
    DoFTools::map_dofs_to_support_points(MappingQ<dim>(1), dof_handler, points);
    std::vector<NodalValue> values;
    for (const auto i : owned) {
      const Point<dim> &x = points.at(i);
      values.push_back({x[0], x[1], dim == 3 ? x[dim - 1] : 0., u(i)});
    }
    const auto of_ranks = Utilities::MPI::gather(MPI_COMM_WORLD, values);
    std::vector<NodalValue> all;
    for (const auto &of_rank : of_ranks)
      all.insert(all.end(), of_rank.begin(), of_rank.end());
    if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
      write_sorted(file, std::move(all));
  }

private:
  /// Adds the lifetime of this object, in seconds, to a sum.
  class Clock
  {
  public:
    explicit Clock(double &sum) : sum(sum)
    {}
    ~Clock()
    {
      sum += timer.wall_time();
    }

  private:
    double &sum;
    Timer timer;
  };

  /// Assembles R'(u) into @p matrix or R(u) into @p R, whichever is given.
  void assemble(const Vector &u, Matrix *matrix, Vector *R)
  {
    ghosted = u;
    const QGauss<dim> gauss(fe.degree + 1);
    const QGaussLobatto<dim> nodes(fe.degree + 1);
    const auto node_of_point = FETools::lexicographic_to_hierarchic_numbering<dim>(fe.degree);
    for (unsigned int q = 0; q < nodes.size(); ++q)
      AssertThrow(nodes.point(q).distance(fe.unit_support_point(node_of_point[q])) < 1e-12,
                  ExcMessage("The points of the Gauss-Lobatto formula are not the nodes."));
    FEValues<dim> gradients(fe, gauss, update_gradients | update_JxW_values);
    FEValues<dim> weights(fe, nodes, update_JxW_values);
    const unsigned int n = fe.n_dofs_per_cell();
    FullMatrix<double> cell_matrix(n, n);
    dealii::Vector<double> cell_residual(n), cell_u(n);
    std::vector<types::global_dof_index> dofs(n);
    for (const auto &cell : dof_handler.active_cell_iterators()) {
      if (!cell->is_locally_owned())
        continue;
      gradients.reinit(cell);
      weights.reinit(cell);
      cell->get_dof_values(ghosted, cell_u);
      cell->get_dof_indices(dofs);
      if (matrix != nullptr) {
        add_stiffness(gradients, cell_matrix);
        for (unsigned int q = 0; q < n; ++q) {
          const unsigned int i = node_of_point[q];
          cell_matrix(i, i) -= lambda * std::exp(cell_u(i)) * weights.JxW(q);
        }
        constraints.distribute_local_to_global(cell_matrix, dofs, *matrix);
      }
      if (R != nullptr) {
        apply_stiffness(gradients, cell_u, cell_residual);
        for (unsigned int q = 0; q < n; ++q) {
          const unsigned int i = node_of_point[q];
          cell_residual(i) -= lambda * std::exp(cell_u(i)) * weights.JxW(q);
        }
        constraints.distribute_local_to_global(cell_residual, dofs, *R);
      }
    }
  }

  /// Adds the stiffness (∇φ_j, ∇φ_i) of a cell to @p cell_matrix.
  static void add_stiffness(const FEValues<dim> &fe_values, FullMatrix<double> &cell_matrix)
  {
    const unsigned int n = fe_values.dofs_per_cell;
    cell_matrix = 0.;
    for (const unsigned int q : fe_values.quadrature_point_indices())
      for (unsigned int i = 0; i < n; ++i) {
        const Tensor<1, dim> grad_i = fe_values.shape_grad(i, q) * fe_values.JxW(q);
        for (unsigned int j = 0; j <= i; ++j)
          cell_matrix(i, j) += grad_i * fe_values.shape_grad(j, q);
      }
    for (unsigned int i = 0; i < n; ++i)
      for (unsigned int j = i + 1; j < n; ++j)
        cell_matrix(i, j) = cell_matrix(j, i);
  }

  /// Computes the part (∇u, ∇φ_i) of the residual of a cell.
  static void apply_stiffness(const FEValues<dim> &fe_values, const dealii::Vector<double> &cell_u,
                              dealii::Vector<double> &cell_residual)
  {
    cell_residual = 0.;
    for (const unsigned int q : fe_values.quadrature_point_indices()) {
      Tensor<1, dim> grad_u;
      for (unsigned int j = 0; j < cell_u.size(); ++j)
        grad_u += cell_u(j) * fe_values.shape_grad(j, q);
      grad_u *= fe_values.JxW(q);
      for (unsigned int i = 0; i < cell_u.size(); ++i)
        cell_residual(i) += grad_u * fe_values.shape_grad(i, q);
    }
  }

  const double lambda;
  parallel::distributed::Triangulation<dim> triangulation;
  const FE_Q<dim> fe;
  DoFHandler<dim> dof_handler;
  IndexSet owned, relevant;
  AffineConstraints<double> constraints;
  Matrix K;
  Vector ghosted;
  double seconds = 0.;
};
} // namespace references

#endif
