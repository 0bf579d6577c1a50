#include "physics/error_norms.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/error_estimator.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
/// ∂_a of a component at @p p, by differences of fourth order over distances up to 2 @p step.
template <int dim>
Tensor<1, dim> gradient_by_differences(const Function<dim> &function, const Point<dim> &p,
                                       const unsigned int component, const double step)
{
  Tensor<1, dim> gradient;
  for (unsigned int a = 0; a < dim; ++a) {
    const auto f = [&](const double distance) {
      Point<dim> there(p);
      there[a] += distance;
      return function.value(there, component);
    };
    gradient[a] = (8. * (f(step) - f(-step)) - (f(2. * step) - f(-2. * step))) / (12. * step);
  }
  return gradient;
}
} // namespace

template <int dim>
ErrorNorms compute_errors(const Discretization<dim> &discretization, const FeVector &u,
                          const Function<dim> &exact)
{
  // A part of the cell's size, so that differences see singularities as the mesh does, and never
  // leave the cell.
  constexpr double relative_step = 0.01;
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
  std::array<double, 4> squares{}; // L2 and H1 of the error, L2 and H1 of the exact solution
  double largest = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    const double step = relative_step * cell->minimum_vertex_distance();
    fe.reinit(cell);
    fe.get_function_values(u, values);
    fe.get_function_gradients(u, gradients);
    for (const unsigned int q : fe.quadrature_point_indices())
      for (unsigned int c = 0; c < n_components; ++c) {
        const Point<dim> &p = fe.quadrature_point(q);
        const double value = exact.value(p, c);
        const Tensor<1, dim> gradient = gradient_by_differences(exact, p, c, step);
        squares[0] += std::pow(values[q](c) - value, 2) * fe.JxW(q);
        squares[1] += (gradients[q][c] - gradient).norm_square() * fe.JxW(q);
        squares[2] += value * value * fe.JxW(q);
        squares[3] += gradient.norm_square() * fe.JxW(q);
      }
    at_dense.reinit(cell);
    at_dense.get_function_values(u, dense_values);
    for (const unsigned int q : at_dense.quadrature_point_indices())
      for (unsigned int c = 0; c < n_components; ++c)
        largest = std::max(
            largest, std::abs(dense_values[q](c) - exact.value(at_dense.quadrature_point(q), c)));
  }
  const MPI_Comm comm = discretization.communicator();
  std::array<double, 4> norms{};
  for (unsigned int i = 0; i < norms.size(); ++i)
    norms[i] = std::sqrt(Utilities::MPI::sum(squares[i], comm));
  return {norms[0], norms[1], Utilities::MPI::max(largest, comm), norms[2], norms[3]};
}

template <int dim>
Vector<float> kelly_indicators(const Discretization<dim> &discretization, const FeVector &u)
{
  Vector<float> indicators(discretization.mesh().triangulation->n_active_cells());
  KellyErrorEstimator<dim>::estimate(
      discretization.mapping(), discretization.dofs(), QGauss<dim - 1>(discretization.degree() + 1),
      {}, u, indicators, {}, nullptr, numbers::invalid_unsigned_int,
      discretization.mesh().triangulation->locally_owned_subdomain());
  return indicators;
}

template ErrorNorms compute_errors(const Discretization<2> &, const FeVector &,
                                   const Function<2> &);
template ErrorNorms compute_errors(const Discretization<3> &, const FeVector &,
                                   const Function<3> &);
template Vector<float> kelly_indicators(const Discretization<2> &, const FeVector &);
template Vector<float> kelly_indicators(const Discretization<3> &, const FeVector &);
} // namespace femgpu
