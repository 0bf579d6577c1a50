#include "physics/problem.h"

#include "physics/residual.h"

#include <algorithm>
#include <functional>

namespace femgpu
{
using namespace dealii;

template <int dim>
std::vector<DerivedField> Problem<dim>::derived_fields() const
{
  if (n_components() > 1)
    return {};
  return {{"flux", 1}};
}

template <int dim>
void Problem<dim>::evaluate_derived_fields(const PointBatch<dim> &at, PointRows &numbers) const
{
  PointTerms sigma;
  sigma.reinit(dim, 1, dim, at.size());
  flux(at, sigma);
  for (unsigned int d = 0; d < dim; ++d)
    std::transform(sigma.value(d), sigma.value(d) + at.size(), numbers[d], std::negate<double>());
}

template <int dim>
std::unique_ptr<CellObserver<dim>>
Problem<dim>::observer(const Discretization<dim> & /* discretization */) const
{
  return nullptr;
}

template <int dim>
std::vector<Quantity> Problem<dim>::quantities(DiscreteSolution<dim> &solution) const
{
  return solution.flux_quantities();
}

template class Problem<2>;
template class Problem<3>;
} // namespace femgpu
