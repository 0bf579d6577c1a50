#include "physics/error_norms.h"

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
  const Quadrature<dim> gauss = discretization.cell_quadrature(2);
  // Between the nodes the error is larger than at them.
  const Quadrature<dim> dense = discretization.mesh().is_simplex
                                    ? gauss
                                    : static_cast<Quadrature<dim>>(QIterated<dim>(
                                          QTrapezoid<1>(), 2 * discretization.degree()));
  FEValues<dim> fe(discretization.mapping(), discretization.element(), gauss,
                   update_values | update_gradients | update_quadrature_points | update_JxW_values);
  FEValues<dim> at_dense(discretization.mapping(), discretization.element(), dense,
                         update_values | update_quadrature_points);
  const unsigned int n_components = exact.n_components;
  std::vector<Vector<double>> values(gauss.size(), Vector<double>(n_components));
  std::vector<Vector<double>> dense_values(dense.size(), Vector<double>(n_components));
  std::vector<std::vector<Tensor<1, dim>>> gradients(gauss.size(),
                                                     std::vector<Tensor<1, dim>>(n_components));
  std::vector<double> exact_values(gauss.size()), exact_dense_values(dense.size());
  std::vector<Tensor<1, dim>> exact_gradients(gauss.size());
  std::array<double, 4> squares{}; // L2 and H1 of the error, L2 and H1 of the exact solution
  double largest = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    fe.reinit(cell);
    fe.get_function_values(u, values);
    fe.get_function_gradients(u, gradients);
    for (unsigned int c = 0; c < n_components; ++c) {
      exact.value_list(fe.get_quadrature_points(), exact_values, c);
      exact.gradient_list(fe.get_quadrature_points(), exact_gradients, c);
      for (const unsigned int q : fe.quadrature_point_indices()) {
        const double value = exact_values[q];
        const Tensor<1, dim> &gradient = exact_gradients[q];
        squares[0] += std::pow(values[q](c) - value, 2) * fe.JxW(q);
        squares[1] += (gradients[q][c] - gradient).norm_square() * fe.JxW(q);
        squares[2] += value * value * fe.JxW(q);
        squares[3] += gradient.norm_square() * fe.JxW(q);
      }
    }
    at_dense.reinit(cell);
    at_dense.get_function_values(u, dense_values);
    for (unsigned int c = 0; c < n_components; ++c) {
      exact.value_list(at_dense.get_quadrature_points(), exact_dense_values, c);
      for (const unsigned int q : at_dense.quadrature_point_indices())
        largest = std::max(largest, std::abs(dense_values[q](c) - exact_dense_values[q]));
    }
  }
  const MPI_Comm comm = discretization.communicator();
  std::array<double, 4> norms{};
  for (unsigned int i = 0; i < norms.size(); ++i)
    norms[i] = std::sqrt(Utilities::MPI::sum(squares[i], comm));
  return {norms[0], norms[1], Utilities::MPI::max(largest, comm), norms[2], norms[3]};
}

template <int dim>
SolutionNorms solution_norms(const Discretization<dim> &discretization, const FeVector &u)
{
  const unsigned int n_components = discretization.element().n_components();
  FEValues<dim> fe(discretization.mapping(), discretization.element(),
                   discretization.cell_quadrature(),
                   update_values | update_gradients | update_JxW_values);
  std::vector<Vector<double>> values(fe.n_quadrature_points, Vector<double>(n_components));
  std::vector<std::vector<Tensor<1, dim>>> gradients(fe.n_quadrature_points,
                                                     std::vector<Tensor<1, dim>>(n_components));
  double L2 = 0., H1 = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    fe.reinit(cell);
    fe.get_function_values(u, values);
    fe.get_function_gradients(u, gradients);
    for (const unsigned int q : fe.quadrature_point_indices())
      for (unsigned int c = 0; c < n_components; ++c) {
        L2 += values[q](c) * values[q](c) * fe.JxW(q);
        H1 += gradients[q][c].norm_square() * fe.JxW(q);
      }
  }
  const MPI_Comm comm = discretization.communicator();
  return {std::sqrt(Utilities::MPI::sum(L2, comm)), std::sqrt(Utilities::MPI::sum(H1, comm))};
}

template ErrorNorms compute_errors(const Discretization<2> &, const FeVector &,
                                   const Function<2> &);
template ErrorNorms compute_errors(const Discretization<3> &, const FeVector &,
                                   const Function<3> &);
template SolutionNorms solution_norms(const Discretization<2> &, const FeVector &);
template SolutionNorms solution_norms(const Discretization<3> &, const FeVector &);
} // namespace femgpu
