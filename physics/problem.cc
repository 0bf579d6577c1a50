#include "physics/problem.h"

#include "physics/residual.h"

namespace femgpu
{
using namespace dealii;

namespace
{
/// −σ of a scalar problem.
template <int dim>
class FluxOutput final : public DerivedFields<dim>
{
public:
  explicit FluxOutput(const Problem<dim> &problem) : problem(problem)
  {
    this->add("flux", DataComponentInterpretation::component_is_part_of_vector);
  }

  void evaluate(const PointBatch<dim> &at, PointRows &rows) const override
  {
    PointTerms sigma;
    sigma.reinit(dim, 1, dim, at.size());
    problem.flux(at, sigma);
    for (unsigned int d = 0; d < dim; ++d)
      for (unsigned int q = 0; q < at.size(); ++q)
        rows[d][q] = -sigma.value(d)[q];
  }

private:
  const Problem<dim> &problem;
};
} // namespace

template <int dim>
std::vector<std::shared_ptr<DerivedFields<dim>>> Problem<dim>::postprocessors() const
{
  if (n_components() > 1)
    return {};
  return {std::make_shared<FluxOutput<dim>>(*this)};
}

template <int dim>
std::vector<Quantity> Problem<dim>::quantities(DiscreteSolution<dim> &solution) const
{
  std::set<types::boundary_id> given;
  for (const auto &condition : dirichlet_conditions())
    given.insert(condition.ids.begin(), condition.ids.end());
  if (n_components() > 1 || given.empty())
    return {};
  return flux_quantities(solution, given);
}

template class Problem<2>;
template class Problem<3>;
} // namespace femgpu
