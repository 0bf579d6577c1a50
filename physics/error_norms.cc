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

namespace femgpu
{
using namespace dealii;

template <int dim>
ErrorNorms compute_errors(const Discretization<dim> &discretization, const FeVector &u,
                          const Function<dim> &exact)
{
  const FiniteElement<dim> &scalar = discretization.element().base_element(0);
  const Quadrature<dim> gauss = discretization.cell_quadrature(2);
  // Between the nodes the error is larger than at them.
  const Quadrature<dim> dense = discretization.mesh().is_simplex
                                    ? gauss
                                    : static_cast<Quadrature<dim>>(QIterated<dim>(
                                          QTrapezoid<1>(), 2 * discretization.degree()));
  FEValues<dim> fe(discretization.mapping(), scalar, gauss,
                   update_values | update_gradients | update_quadrature_points | update_JxW_values);
  FEValues<dim> dense_fe(discretization.mapping(), scalar, dense,
                         update_values | update_quadrature_points);
  CellPoints<dim> points(discretization), dense_points(discretization);
  Vector<double> u_cell(discretization.element().n_dofs_per_cell());
  std::vector<double> values, dense_values;
  std::vector<Tensor<1, dim>> gradients;
  std::array<double, 4> squares{}; // L2 and H1 of the error, L2 and H1 of the exact solution
  double largest = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    cell->get_dof_values(u, u_cell);
    points.reinit(cell, fe);
    points.set_solution(u_cell);
    dense_points.reinit(cell, dense_fe);
    dense_points.set_solution(u_cell);
    const PointBatch<dim> &at = points.batch(), &at_dense = dense_points.batch();
    values.resize(at.size());
    gradients.resize(at.size());
    dense_values.resize(at_dense.size());
    for (unsigned int c = 0; c < exact.n_components; ++c) {
      exact.value_list(at.points(), values, c);
      exact.gradient_list(at.points(), gradients, c);
      exact.value_list(at_dense.points(), dense_values, c);
      for (unsigned int q = 0; q < at.size(); ++q) {
        double of_gradient = 0.;
        for (unsigned int d = 0; d < dim; ++d)
          of_gradient += std::pow(at.gradient(c, d)[q] - gradients[q][d], 2);
        squares[0] += std::pow(at.u[c][q] - values[q], 2) * points.JxW(q);
        squares[1] += of_gradient * points.JxW(q);
        squares[2] += values[q] * values[q] * points.JxW(q);
        squares[3] += gradients[q].norm_square() * points.JxW(q);
      }
      for (unsigned int q = 0; q < at_dense.size(); ++q)
        largest = std::max(largest, std::abs(at_dense.u[c][q] - dense_values[q]));
    }
  }
  const MPI_Comm comm = discretization.communicator();
  std::array<double, 4> norms{};
  for (unsigned int i = 0; i < norms.size(); ++i)
    norms[i] = std::sqrt(Utilities::MPI::sum(squares[i], comm));
  return {norms[0], norms[1], Utilities::MPI::max(largest, comm), norms[2], norms[3]};
}

template ErrorNorms compute_errors(const Discretization<2> &, const FeVector &,
                                   const Function<2> &);
template ErrorNorms compute_errors(const Discretization<3> &, const FeVector &,
                                   const Function<3> &);
} // namespace femgpu
