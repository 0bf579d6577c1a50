#include "app/convergence.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace femgpu
{
namespace
{
// An observed order may stay this much below the expected one.
constexpr double order_tolerance = 0.1;

/// What h^-dim grows with from cycle to cycle: dofs where cells have different sizes.
double size_of(const StudyRecord &study, const CycleRecord &cycle)
{
  return static_cast<double>(study.is_adaptive ? cycle.dofs : cycle.cells);
}

/// The order of the error that @p error_of(cycle) gives, if it does.
template <class ErrorOf>
std::optional<double> order_of(const StudyRecord &study, const std::size_t cycle,
                               const ErrorOf &error_of)
{
  if (cycle == 0 || cycle >= study.cycles.size())
    return {};
  const CycleRecord &before = study.cycles[cycle - 1], &now = study.cycles[cycle];
  const std::optional<double> e0 = error_of(before), e1 = error_of(now);
  const double ratio = size_of(study, now) / size_of(study, before);
  if (!e0 || !e1 || !(*e0 > 0.) || !(*e1 > 0.) || ratio == 1.)
    return {};
  return study.dimension * std::log(*e0 / *e1) / std::log(ratio);
}

/// s of error ~ dofs^-s in H1, by least squares over the later half of the cycles.
double rate_by_dofs(const StudyRecord &study)
{
  const std::size_t n = study.cycles.size(), first = n / 2;
  double x_mean = 0., y_mean = 0., xy = 0., xx = 0.;
  const auto x = [&](std::size_t i) { return std::log(double(study.cycles[i].dofs)); };
  const auto y = [&](std::size_t i) { return -std::log(study.cycles[i].errors->H1); };
  for (std::size_t i = first; i < n; ++i) {
    x_mean += x(i) / static_cast<double>(n - first);
    y_mean += y(i) / static_cast<double>(n - first);
  }
  for (std::size_t i = first; i < n; ++i) {
    xy += (x(i) - x_mean) * (y(i) - y_mean);
    xx += (x(i) - x_mean) * (x(i) - x_mean);
  }
  return xy / xx;
}

std::vector<Verdict> adaptive_verdicts(const StudyRecord &study)
{
  const CycleRecord &last = study.cycles.back();
  const std::size_t first = study.cycles.size() / 2;
  if (study.cycles.size() < first + 3 || !last.errors || last.dofs == study.cycles[first].dofs)
    return {};
  const double expected = static_cast<double>(study.degree) / study.dimension;
  const bool is_exact = last.errors->H1 <= rounding_level * last.errors->exact_H1;
  const double observed = is_exact ? 0. : rate_by_dofs(study);
  const bool holds = is_exact || observed >= expected - order_tolerance / study.dimension;
  return {{"H1", observed, expected, /* is_by_dofs */ true, is_exact, holds}};
}
} // namespace

std::optional<double> observed_order(const StudyRecord &study, const std::size_t cycle,
                                     double ErrorNorms::*norm)
{
  return order_of(study, cycle, [&](const CycleRecord &record) {
    return record.errors ? std::optional<double>((*record.errors).*norm) : std::nullopt;
  });
}

std::optional<double> estimated_order(const StudyRecord &study, const std::size_t cycle)
{
  return order_of(study, cycle, [&](const CycleRecord &record) {
    return record.estimate ? std::optional<double>(record.estimate->error) : std::nullopt;
  });
}

std::vector<Verdict> verdicts(const StudyRecord &study)
{
  std::vector<Verdict> result;
  const std::size_t last = study.cycles.size() - 1;
  if (study.cycles.size() < 2 || !study.converged())
    return result;
  if (study.is_adaptive)
    return adaptive_verdicts(study);
  for (const auto &[name, norm] : error_norms) {
    if (norm == &ErrorNorms::Linf) // its order depends on more than the degree
      continue;
    const auto order = observed_order(study, last, norm);
    if (!order)
      continue;
    const double expected = study.degree + (norm == &ErrorNorms::L2 ? 1. : 0.);
    const ErrorNorms &errors = *study.cycles[last].errors;
    const double size = norm == &ErrorNorms::L2 ? errors.exact_L2 : errors.exact_H1;
    const bool is_exact = errors.*norm < rounding_level * size;
    const bool holds = is_exact || *order >= expected - order_tolerance;
    result.push_back({name, *order, expected, /* is_by_dofs */ false, is_exact, holds});
  }
  return result;
}

std::string to_string(const Verdict &verdict)
{
  std::ostringstream text;
  text.precision(2);
  text << std::fixed << verdict.norm << ": ";
  if (verdict.is_by_dofs)
    text << "error falls like dofs^-" << verdict.observed << ", expected dofs^-"
         << verdict.expected;
  else
    text << "order " << verdict.observed << ", expected " << verdict.expected;
  if (verdict.is_exact)
    text << ": the error is at the level of rounding";
  else
    text << (verdict.holds ? ": as expected"
                           : ": LOWER than expected. Refine further, or look at the smoothness of "
                             "data and solution, and at the solver's tolerance");
  return text.str();
}

QuantityInCycle quantity_in(const StudyRecord &study, const std::size_t cycle,
                            const Quantity &quantity)
{
  const auto value = [&](const std::size_t k) -> std::optional<double> {
    for (const Quantity &other : study.cycles[k].quantities)
      if (other.name == quantity.name)
        return other.value;
    return {};
  };
  const auto difference = [&](const std::size_t k) -> std::optional<double> {
    const auto before = value(k - 1), now = value(k);
    return before && now ? std::optional<double>(*now - *before) : std::nullopt;
  };
  QuantityInCycle result;
  result.value = value(cycle);
  if (!quantity.has_limit || cycle < 1)
    return result;
  result.difference = difference(cycle);
  if (!result.difference || cycle < 2)
    return result;
  const auto before = difference(cycle - 1);
  const double cells0 = static_cast<double>(study.cycles[cycle - 1].cells),
               cells1 = static_cast<double>(study.cycles[cycle].cells);
  const double rounding = rounding_level * std::abs(*result.value);
  if (before && cells0 != cells1 && std::abs(*before) > rounding &&
      std::abs(*result.difference) > rounding)
    result.order = study.dimension * std::log(std::abs(*before / *result.difference)) /
                   std::log(cells1 / cells0);
  return result;
}

namespace
{
/// Of the number @p name with the values @p v0, @p v1, @p v2. @param degree of the elements
Extrapolation extrapolate(const std::string &name, const double v0, const double v1,
                          const double v2, const unsigned int degree)
{
  constexpr double least_order = 0.2; // slower than near any corner or crack
  // Functionals of smooth solutions converge with order 2 p, p the degree, and those that depend on
  // the quadrature of the data alone, such as the flux through the whole boundary, with that of
  // Gauss' rule, 2 p + 2. Observed orders scatter about these.
  const double largest_order = 2. * degree + 2.5;
  Extrapolation result;
  result.name = name;
  result.last = v2;
  const double first = v0 - v1, second = v1 - v2;
  if (std::abs(first) + std::abs(second) <= rounding_level * std::abs(v2)) {
    result.value = v2;
    result.relative_error = 0.;
    return result;
  }
  if (!(first * second > 0.)) {
    result.obstacle = "the last three values are not monotone";
    return result;
  }
  const double ratio = first / second;
  result.order = std::log2(ratio);
  if (*result.order >= least_order && *result.order <= largest_order) {
    result.value = v2 + (v2 - v1) / (ratio - 1.);
    if (*result.value != 0.)
      result.relative_error = std::abs((*result.value - v2) / *result.value);
  }
  else {
    std::ostringstream text;
    text.precision(3);
    text << "an order of " << *result.order << " is not plausible (" << least_order << " to "
         << largest_order << " would be)";
    result.obstacle = text.str();
  }
  return result;
}
} // namespace

std::vector<Extrapolation> extrapolations(const StudyRecord &study)
{
  std::vector<Extrapolation> result;
  const std::size_t n = study.cycles.size();
  if (n < 3 || study.is_adaptive || !study.converged())
    return result;
  const CycleRecord &c0 = study.cycles[n - 3], &c1 = study.cycles[n - 2], &c2 = study.cycles[n - 1];
  for (std::size_t i = 0; i < c2.quantities.size(); ++i)
    if (i < c0.quantities.size() && i < c1.quantities.size() && c2.quantities[i].has_limit)
      result.push_back(extrapolate(c2.quantities[i].name, c0.quantities[i].value,
                                   c1.quantities[i].value, c2.quantities[i].value, study.degree));
  if (c0.norms && c1.norms && c2.norms) {
    result.push_back(
        extrapolate("L2 norm", c0.norms->L2, c1.norms->L2, c2.norms->L2, study.degree));
    result.push_back(
        extrapolate("H1 norm", c0.norms->H1, c1.norms->H1, c2.norms->H1, study.degree));
  }
  return result;
}

std::string to_string(const Extrapolation &extrapolation)
{
  std::ostringstream text;
  text.precision(8);
  text << extrapolation.name << ": ";
  if (!extrapolation.value)
    text << "not extrapolated, " << extrapolation.obstacle;
  else {
    text << "extrapolated " << *extrapolation.value;
    text.precision(3);
    if (extrapolation.order)
      text << ", order " << *extrapolation.order;
    if (extrapolation.relative_error)
      text << ", relative error of the last cycle " << *extrapolation.relative_error;
  }
  return text.str();
}

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
  return study.cycles.size() >= n &&
         std::all_of(study.cycles.end() - static_cast<std::ptrdiff_t>(n), study.cycles.end(),
                     [](const CycleRecord &cycle) { return cycle.energy.has_value(); });
}

std::optional<PredictedError> by_richardson(const StudyRecord &study)
{
  if (study.is_adaptive || !have_energies(study, 3))
    return {};
  const auto last = study.cycles.end();
  const double E2 = *last[-1].energy;
  const Extrapolation limit =
      extrapolate("energy", *last[-3].energy, *last[-2].energy, E2, study.degree);
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
