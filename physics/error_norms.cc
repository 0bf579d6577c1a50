#include "physics/error_norms.h"

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/lac/vector.h>
#include <deal.II/numerics/error_estimator.h>
#include <deal.II/numerics/vector_tools_integrate_difference.h>

namespace femgpu
{
using namespace dealii;

template <int dim>
ErrorNorms compute_errors(const Discretization<dim> &discretization, const FeVector &u,
                          const Function<dim> &exact)
{
  const auto &triangulation = *discretization.mesh().triangulation;
  Vector<double> per_cell(triangulation.n_active_cells());
  const auto norm_of = [&](const Quadrature<dim> &quadrature, const VectorTools::NormType norm) {
    VectorTools::integrate_difference(discretization.mapping(), discretization.dofs(), u, exact,
                                      per_cell, quadrature, norm);
    return VectorTools::compute_global_error(triangulation, per_cell, norm);
  };
  const Quadrature<dim> gauss = discretization.cell_quadrature(2);
  // Between the nodes the error is larger than at them.
  const Quadrature<dim> dense = discretization.mesh().is_simplex
                                    ? gauss
                                    : static_cast<Quadrature<dim>>(QIterated<dim>(
                                          QTrapezoid<1>(), 2 * discretization.degree()));
  ErrorNorms errors;
  errors.L2 = norm_of(gauss, VectorTools::L2_norm);
  errors.H1 = norm_of(gauss, VectorTools::H1_seminorm);
  errors.Linf = norm_of(dense, VectorTools::Linfty_norm);
  return errors;
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
