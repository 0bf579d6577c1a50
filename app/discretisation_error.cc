#include "app/discretisation_error.h"

#include "app/extrapolation.h"

#include <cmath>

namespace femgpu
{
namespace
{
/// Of the discretisation error in the energy norm, which is what a solve may add to it. Both are
/// orthogonal: together they are larger by half a percent.
constexpr double part_of_error = 0.1;

PredictedError predicted(const double error, const char *const source)
{
  return {error, part_of_error * error, source};
}

/// Have @p n cycles at the end an energy?
bool have_energies(const StudyRecord &study, const std::size_t n)
{
  if (study.cycles.size() < n)
    return false;
  for (std::size_t back = 1; back <= n; ++back)
    if (!study.cycles[study.cycles.size() - back].energy)
      return false;
  return true;
}

std::optional<PredictedError> by_richardson(const StudyRecord &study)
{
  if (study.is_adaptive || !have_energies(study, 3))
    return {};
  const auto last = study.cycles.end();
  const double E0 = *last[-3].energy, E1 = *last[-2].energy, E2 = *last[-1].energy;
  const Extrapolation limit = extrapolate("energy", E0, E1, E2, study.degree);
  if (!limit.value || !limit.order || !(E2 > *limit.value))
    return {};
  return predicted(std::sqrt(2. * (E2 - *limit.value) / std::exp2(*limit.order)),
                   "energies, extrapolated");
}

/// How the error falls at best from n0 to n1 dofs.
double best_reduction(const StudyRecord &study, const double n0, const double n1)
{
  return std::pow(n0 / n1, static_cast<double>(study.degree) / study.dimension);
}

std::optional<PredictedError> by_two_cycles(const StudyRecord &study, const std::size_t n_dofs)
{
  if (!have_energies(study, 2))
    return {};
  const CycleRecord &c1 = study.cycles.end()[-2], &c2 = study.cycles.end()[-1];
  const double gain = 2. * (*c1.energy - *c2.energy); // e₁² − e₂²
  if (!(gain > rounding_level * std::abs(*c2.energy)))
    return {};
  const auto n1 = static_cast<double>(c1.dofs), n2 = static_cast<double>(c2.dofs);
  const double next = best_reduction(study, n2, static_cast<double>(n_dofs));
  if (c1.estimate && c2.estimate && c2.estimate->error < c1.estimate->error) {
    const double eta1 = c1.estimate->error, eta2 = c2.estimate->error;
    const double effectivity = std::sqrt((eta1 * eta1 - eta2 * eta2) / gain);
    return predicted(next * eta2 / effectivity, "estimator and its effectivity");
  }
  const double reduction = best_reduction(study, n1, n2); // e₂/e₁
  if (!(reduction < 1.))
    return {};
  const double error = std::sqrt(gain / (1. / (reduction * reduction) - 1.));
  return predicted(next * error, "energies, best order");
}
} // namespace

std::optional<PredictedError> predict_error(const StudyRecord &study, const std::size_t n_dofs)
{
  if (auto result = by_richardson(study))
    return result;
  return by_two_cycles(study, n_dofs);
}
} // namespace femgpu
