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
  this->add("strain", tensor);
  this->add("stress", tensor);
  if (dim == 2)
    for (const char *const name : {"strain_zz", "stress_zz"})
      this->add(name, scalar);
  for (const char *const name :
       {"principal_stress_1", "principal_stress_2", "principal_stress_3", "von_mises_stress"})
    this->add(name, scalar);
  if (materials.has_yield_stress())
    this->add("safety_factor", scalar);
}

template <int dim>
void StressOutput<dim>::evaluate(const PointBatch<dim> &at, PointRows &rows) const
{
  const auto moduli = materials.moduli(at.points(), at.material);
  std::vector<double> yield;
  if (materials.has_yield_stress())
    yield = materials.yield_stress(at.points(), at.material);
  std::vector<double *> row(2 * dim * dim + (dim == 2 ? 2 : 0) + 4 + (yield.empty() ? 0 : 1));
  for (unsigned int r = 0; r < row.size(); ++r)
    row[r] = rows[r];
  for (unsigned int q = 0; q < at.size(); ++q) {
    const ElasticState state = materials.state(moduli[q], gradient_at(at, q));
    unsigned int next = 0;
    for (const auto *const values : {&state.strain, &state.stress})
      for (unsigned int a = 0; a < dim; ++a)
        for (unsigned int b = 0; b < dim; ++b)
          row[next++][q] = (*values)[a][b];
    if (dim == 2) {
      row[next++][q] = state.strain[2][2];
      row[next++][q] = state.stress[2][2];
    }
    const double equivalent = von_mises(state.stress);
    for (const double stress : principal_stresses(state.stress))
      row[next++][q] = stress;
    row[next++][q] = equivalent;
    if (materials.has_yield_stress())
      row[next++][q] = safety_factor(yield[q], equivalent);
  }
}

template class StressOutput<2>;
template class StressOutput<3>;
} // namespace femgpu
