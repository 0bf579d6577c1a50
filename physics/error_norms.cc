#include "physics/error_norms.h"

#include "physics/cell_equation.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// The points of @p a, and those of @p b without weights.
template <int dim>
Quadrature<dim> with_points_of(const Quadrature<dim> &a, const Quadrature<dim> &b)
{
  std::vector<Point<dim>> points = a.get_points();
  std::vector<double> weights = a.get_weights();
  points.insert(points.end(), b.get_points().begin(), b.get_points().end());
  weights.resize(points.size(), 0.);
  return Quadrature<dim>(points, weights);
}
} // namespace

template <int dim>
ErrorNorms compute_errors(const Discretization<dim> &discretization, const FeVector &u,
                          const ComparableSolution<dim> &exact)
{
  const Quadrature<dim> gauss = discretization.cell_quadrature(2);
  const bool is_simplex = discretization.mesh().is_simplex;
  // Between the nodes the error is larger than at them.
  const Quadrature<dim> all =
      is_simplex ? gauss
                 : with_points_of<dim>(
                       gauss, QIterated<dim>(QTrapezoid<1>(), 2 * discretization.degree()));
  const unsigned int n_gauss = gauss.size(), first_dense = is_simplex ? 0 : n_gauss;
  FEValues<dim> fe(discretization.mapping(), discretization.element().base_element(0), all,
                   update_values | update_gradients | update_quadrature_points | update_JxW_values);
  CellPoints<dim> points(discretization);
  Vector<double> u_cell(discretization.element().n_dofs_per_cell());
  std::vector<double> rows;
  std::array<double, 4> squares{}; // L2 and H1 of the error, L2 and H1 of the exact solution
  double largest = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    cell->get_dof_values(u, u_cell);
    points.reinit(cell, fe);
    points.set_solution(u_cell);
    const PointBatch<dim> &at = points.batch();
    const unsigned int n = at.size();
    for (unsigned int c = 0; c < exact.n_components; ++c) {
      exact.value_and_gradient_rows(at.points(), n_gauss, rows, c);
      const auto add = [&](const double *const of_u, const double *const of_exact,
                           const unsigned int norm) {
        for (unsigned int q = 0; q < n_gauss; ++q) {
          const double error = of_u[q] - of_exact[q];
          squares[norm] += error * error * points.JxW(q);
          squares[2 + norm] += of_exact[q] * of_exact[q] * points.JxW(q);
        }
      };
      add(at.u[c], rows.data(), 0);
      for (unsigned int d = 0; d < dim; ++d)
        add(at.gradient(c, d), rows.data() + (1 + d) * std::size_t(n), 1);
      for (unsigned int q = first_dense; q < n; ++q)
        largest = std::max(largest, std::abs(at.u[c][q] - rows[q]));
    }
  }
  const MPI_Comm comm = discretization.communicator();
  std::array<double, 4> norms{};
  for (unsigned int i = 0; i < norms.size(); ++i)
    norms[i] = std::sqrt(Utilities::MPI::sum(squares[i], comm));
  return {norms[0], norms[1], Utilities::MPI::max(largest, comm), norms[2], norms[3]};
}

template ErrorNorms compute_errors(const Discretization<2> &, const FeVector &,
                                   const ComparableSolution<2> &);
template ErrorNorms compute_errors(const Discretization<3> &, const FeVector &,
                                   const ComparableSolution<3> &);
} // namespace femgpu
