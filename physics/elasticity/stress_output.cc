#include "physics/elasticity/stress_output.h"

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
std::vector<DerivedField> stress_fields(const ElasticMaterials<dim> &materials)
{
  std::vector<DerivedField> fields = {{"strain", 2}, {"stress", 2}};
  if (dim == 2)
    fields.insert(fields.end(), {{"strain_zz", 0}, {"stress_zz", 0}});
  for (const char *const name :
       {"principal_stress_1", "principal_stress_2", "principal_stress_3", "von_mises_stress"})
    fields.push_back({name, 0});
  if (materials.has_yield_stress())
    fields.push_back({"safety_factor", 0});
  return fields;
}

template <int dim>
void derive_stress(const ElasticMaterials<dim> &materials, const PointBatch<dim> &at,
                   PointRows &numbers)
{
  const auto moduli = materials.moduli(at.points(), at.material);
  std::vector<double> yield;
  if (materials.has_yield_stress())
    yield = materials.yield_stress(at.points(), at.material);
  std::vector<double *> rows; // found once: it takes longer than writing a number
  for (unsigned int r = 0; r < 2 * dim * dim + (dim == 2 ? 6 : 4) + (yield.empty() ? 0 : 1); ++r)
    rows.push_back(numbers[r]);
  for (unsigned int q = 0; q < at.size(); ++q) {
    const ElasticState state = materials.state(moduli[q], gradient_at(at, q));
    unsigned int row = 0;
    for (const auto *const tensor : {&state.strain, &state.stress})
      for (unsigned int a = 0; a < dim; ++a)
        for (unsigned int b = 0; b < dim; ++b)
          rows[row++][q] = (*tensor)[a][b];
    for (const auto *const tensor : {&state.strain, &state.stress})
      if (dim == 2)
        rows[row++][q] = (*tensor)[2][2];
    const double equivalent = von_mises(state.stress);
    for (const double stress : principal_stresses(state.stress))
      rows[row++][q] = stress;
    rows[row++][q] = equivalent;
    if (materials.has_yield_stress())
      rows[row][q] = safety_factor(yield[q], equivalent);
  }
}

template std::vector<DerivedField> stress_fields(const ElasticMaterials<2> &);
template std::vector<DerivedField> stress_fields(const ElasticMaterials<3> &);
template void derive_stress(const ElasticMaterials<2> &, const PointBatch<2> &, PointRows &);
template void derive_stress(const ElasticMaterials<3> &, const PointBatch<3> &, PointRows &);
} // namespace femgpu
