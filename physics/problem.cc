#include "physics/problem.h"

#include "physics/residual.h"

#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/lac/vector.h>

namespace femgpu
{
using namespace dealii;

namespace
{
/// −σ of a scalar problem.
template <int dim>
class FluxOutput final : public DataPostprocessorVector<dim>
{
public:
  explicit FluxOutput(const Problem<dim> &problem)
      : DataPostprocessorVector<dim>("flux",
                                     update_values | update_gradients | update_quadrature_points),
        problem(problem)
  {}

  void evaluate_scalar_field(const DataPostprocessorInputs::Scalar<dim> &inputs,
                             std::vector<Vector<double>> &computed) const override
  {
    PointBatch<dim> at;
    at.places = &inputs.evaluation_points;
    at.material = inputs.template get_cell<dim>()->material_id();
    at.u.reinit(1, at.size());
    at.gradients.reinit(dim, at.size());
    for (unsigned int q = 0; q < at.size(); ++q) {
      at.u[0][q] = inputs.solution_values[q];
      for (unsigned int d = 0; d < dim; ++d)
        at.gradients[d][q] = inputs.solution_gradients[q][d];
    }
    PointTerms sigma;
    sigma.reinit(dim, 1, dim, at.size());
    problem.flux(at, sigma);
    for (unsigned int q = 0; q < at.size(); ++q)
      for (unsigned int d = 0; d < dim; ++d)
        computed[q](d) = -sigma.value(d)[q];
  }

private:
  const Problem<dim> &problem;
};
} // namespace

template <int dim>
std::vector<std::shared_ptr<DataPostprocessor<dim>>> Problem<dim>::postprocessors() const
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
