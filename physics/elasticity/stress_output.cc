#include "physics/elasticity/stress_output.h"

#include <algorithm>

namespace femgpu
{
using namespace dealii;

double safety_factor(const double yield_stress, const double von_mises_stress)
{
  // not a quotient first: the stress may be zero
  return yield_stress >= largest_safety_factor * von_mises_stress ? largest_safety_factor
                                                                  : yield_stress / von_mises_stress;
}

template <int dim>
StressOutput<dim>::StressOutput(const ElasticMaterials<dim> &materials) : materials(materials)
{
  const auto tensor = DataComponentInterpretation::component_is_part_of_tensor;
  const auto scalar = DataComponentInterpretation::component_is_scalar;
  constexpr std::size_t n_entries = std::size_t(dim) * dim;
  for (const char *const name : {"strain", "stress"}) {
    names.insert(names.end(), n_entries, name);
    kinds.insert(kinds.end(), n_entries, tensor);
  }
  if (dim == 2)
    names.insert(names.end(), {"strain_zz", "stress_zz"});
  names.insert(names.end(), {"principal_stress_1", "principal_stress_2", "principal_stress_3",
                             "von_mises_stress"});
  if (materials.has_yield_stress())
    names.emplace_back("safety_factor");
  kinds.resize(names.size(), scalar);
}

template <int dim>
void StressOutput<dim>::evaluate_vector_field(const DataPostprocessorInputs::Vector<dim> &input,
                                              std::vector<Vector<double>> &computed) const
{
  const auto material = input.template get_cell<dim>()->material_id();
  const auto moduli = materials.moduli(input.evaluation_points, material);
  std::vector<double> yield;
  if (materials.has_yield_stress())
    yield = materials.yield_stress(input.evaluation_points, material);
  for (unsigned int q = 0; q < computed.size(); ++q) {
    Tensor<2, dim> gradient;
    for (unsigned int c = 0; c < dim; ++c)
      gradient[c] = input.solution_gradients[q][c];
    const ElasticState state = materials.state(moduli[q], gradient);
    unsigned int next = 0;
    for (const auto *const values : {&state.strain, &state.stress})
      for (unsigned int a = 0; a < dim; ++a)
        for (unsigned int b = 0; b < dim; ++b)
          computed[q](next++) = (*values)[a][b];
    if (dim == 2) {
      computed[q](next++) = state.strain[2][2];
      computed[q](next++) = state.stress[2][2];
    }
    for (const auto &[stress, direction] : eigenvectors(state.stress))
      computed[q](next++) = stress;
    const double equivalent = von_mises(state.stress);
    computed[q](next++) = equivalent;
    if (materials.has_yield_stress())
      computed[q](next++) = safety_factor(yield[q], equivalent);
  }
}

template class StressOutput<2>;
template class StressOutput<3>;
} // namespace femgpu
