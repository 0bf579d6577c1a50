#include "app/convergence.h"

#include "app/table.h"

#include <cmath>
#include <sstream>

namespace femgpu
{
namespace
{
// The allowed deviation of an observed order from the expected one.
constexpr double order_tolerance = 0.1;

/// Returns a number proportional to h^-dim: the number of cells or, after adaptive refinement, of
/// dofs.
double size_of(const StudyRecord &study, const CycleRecord &cycle)
{
  return static_cast<double>(study.is_adaptive ? cycle.dofs : cycle.cells);
}

/// Returns the order of the error error_of(cycle); nullopt if it is undefined.
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

/// Returns s in error ~ dofs^-s in H1, fitted by least squares to the second half of the cycles.
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
  const bool is_met = is_exact || observed >= expected - order_tolerance / study.dimension;
  return {{"H1", observed, expected, /* is_rate_in_dofs */ true, is_exact, is_met}};
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
    if (norm == &ErrorNorms::Linf) // the order in Linf does not depend on the degree alone
      continue;
    const auto order = observed_order(study, last, norm);
    if (!order)
      continue;
    const double expected = study.degree + (norm == &ErrorNorms::L2 ? 1. : 0.);
    const ErrorNorms &errors = *study.cycles[last].errors;
    const double size = norm == &ErrorNorms::L2 ? errors.exact_L2 : errors.exact_H1;
    const bool is_exact = errors.*norm < rounding_level * size;
    const bool is_met = is_exact || *order >= expected - order_tolerance;
    result.push_back({name, *order, expected, /* is_rate_in_dofs */ false, is_exact, is_met});
  }
  return result;
}

std::string to_string(const Verdict &verdict)
{
  std::ostringstream text;
  text.precision(2);
  text << std::fixed << verdict.norm << ": ";
  if (verdict.is_rate_in_dofs)
    text << "error falls like dofs^-" << verdict.observed << ", expected dofs^-"
         << verdict.expected;
  else
    text << "order " << verdict.observed << ", expected " << verdict.expected;
  if (verdict.is_exact)
    text << ": the error is at the level of rounding";
  else
    text << (verdict.is_met ? ": as expected"
                            : ": LOWER than expected. Refine further, check that data and solution "
                              "are smooth, or lower the solver's tolerance");
  return text.str();
}

namespace
{
/// Returns the values of up to four consecutive cycles that end with @p cycle, each with half the
/// cell size of the previous one. Empty after adaptive refinement, which has no single size h.
template <class ValueOf>
std::vector<double> values_up_to(const StudyRecord &study, const std::size_t cycle,
                                 const ValueOf &value_of)
{
  constexpr std::size_t max_values = 4;
  std::vector<double> values;
  if (study.is_adaptive)
    return values;
  for (std::size_t k = cycle + 1; k-- > 0 && values.size() < max_values;) {
    const CycleRecord &record = study.cycles[k];
    const std::optional<double> value = value_of(record);
    const bool is_halved =
        k == cycle || record.cells << study.dimension == study.cycles[k + 1].cells;
    if (!value || !is_halved)
      break;
    values.insert(values.begin(), *value);
  }
  return values;
}

/// Returns a function that returns the value of quantity @p name in a cycle, or nullopt if the
/// cycle does not have this quantity.
auto value_of_quantity(const std::string &name)
{
  return [name](const CycleRecord &cycle) -> std::optional<double> {
    for (const Quantity &quantity : cycle.quantities)
      if (quantity.name == name)
        return quantity.value;
    return {};
  };
}

/// The largest permitted difference of the distances to the limit that two orders yield, relative
/// to the distance by the observed order.
constexpr double largest_spread = 0.25;

/// Richardson extrapolation of the values of one quantity.
class Richardson
{
public:
  /// @param values values of the quantity in three or more cycles, in order
  Richardson(const std::vector<double> &values, const unsigned int degree)
      : values(values), degree(degree)
  {}

  Extrapolation extrapolate(const std::string &name, const bool is_nonnegative) const
  {
    Extrapolation result;
    result.name = name;
    result.last = from_end(0);
    if (std::abs(change(0)) + std::abs(change(1)) <= rounding_level * std::abs(result.last)) {
      result.value = result.last;
      result.relative_error = 0.;
      return result;
    }
    result.obstacle = power_law_violation();
    if (!result.obstacle.empty())
      return result;
    const double distance = distance_to_limit(ratio(0)), limit = result.last + distance;
    const double spread = std::abs(distance - distance_to_limit(confirming_ratio()));
    if (is_nonnegative && limit < spread) {
      result.obstacle = "the limit would be " + *general(limit, 3) + " ± " + *general(spread, 3) +
                        ", but this quantity cannot be negative";
      return result;
    }
    result.value = limit;
    result.order = std::log2(ratio(0));
    if (limit != 0.)
      result.relative_error = std::abs(distance / limit);
    return result;
  }

private:
  double from_end(const std::size_t k) const
  {
    return values[values.size() - 1 - k];
  }
  /// The k-th difference of consecutive values, counted from the end.
  double change(const std::size_t k) const
  {
    return from_end(k) - from_end(k + 1);
  }
  double ratio(const std::size_t k) const
  {
    return change(k + 1) / change(k);
  }
  /// The distance from the last value to the limit, if changes decrease by @p ratio.
  double distance_to_limit(const double ratio) const
  {
    return change(0) / (ratio - 1.);
  }
  bool has_four_values() const
  {
    return values.size() > 3;
  }
  /// The theoretical order closest to the observed one.
  double theoretical_order() const
  {
    const double p = degree, q = std::log2(ratio(0));
    double closest = p;
    for (const double order : {p + 1., 2. * p, 2. * p + 2.})
      if (std::abs(order - q) < std::abs(closest - q))
        closest = order;
    return closest;
  }
  /// The ratio with which ratio(0) is compared: ratio(1) or, for three values, a theoretical ratio.
  double confirming_ratio() const
  {
    return has_four_values() ? ratio(1) : std::exp2(theoretical_order());
  }

  /// Explains why the values do not follow a law v + C h^q; empty if they do.
  std::string power_law_violation() const
  {
    constexpr double min_order = 0.2; // lower than the order at any corner or crack
    // Functionals of smooth solutions converge with order 2p. Functionals that depend on the
    // quadrature of the data only, such as the flux through the whole boundary, converge with the
    // order 2p + 2 of the Gauss rule. Observed orders scatter about these theoretical orders.
    const double largest_order = 2. * degree + 2.5;
    const std::string last = has_four_values() ? "the last four values" : "the three values";
    if (!(change(1) * change(0) > 0.) || (has_four_values() && !(change(2) * change(1) > 0.)))
      return last + " are not monotone";
    const double order = std::log2(ratio(0));
    if (order <= 0.)
      return "its changes do not decrease: the solution is singular, the meshes are too coarse, or "
             "the solver's error dominates";
    if (order < min_order || order > largest_order)
      return "the order " + *general(order, 3) + " is not plausible (expected " +
             *general(min_order, 3) + " to " + *general(largest_order, 3) + ")";
    if (has_four_values()) {
      const double distance = distance_to_limit(ratio(0));
      if (ratio(1) > 1. &&
          std::abs(distance_to_limit(ratio(1)) - distance) <= largest_spread * std::abs(distance))
        return "";
      return last + " give different orders, " + *general(std::log2(ratio(1)), 3) + " and " +
             *general(order, 3);
    }
    if (std::abs(order - theoretical_order()) <= order_tolerance)
      return "";
    return "three values give the order " + *general(order, 3) +
           ", which theory does not predict; add a fourth cycle to confirm it";
  }

  const std::vector<double> &values;
  unsigned int degree;
};

/// Extrapolates @p values; returns nothing for fewer than three values.
std::optional<Extrapolation> extrapolate(const std::string &name, const std::vector<double> &values,
                                         const unsigned int degree, const bool is_nonnegative)
{
  if (values.size() < 3)
    return {};
  return Richardson(values, degree).extrapolate(name, is_nonnegative);
}
} // namespace

QuantityInCycle quantity_in(const StudyRecord &study, const std::size_t cycle,
                            const Quantity &quantity)
{
  const auto value_of = value_of_quantity(quantity.name);
  QuantityInCycle result;
  result.value = value_of(study.cycles[cycle]);
  if (!quantity.has_limit || cycle < 1 || !result.value)
    return result;
  if (const auto before = value_of(study.cycles[cycle - 1]))
    result.difference = *result.value - *before;
  if (!study.cycles[cycle].solve.report.converged())
    return result;
  if (const auto limit = extrapolate(quantity.name, values_up_to(study, cycle, value_of),
                                     study.degree, quantity.is_nonnegative))
    result.order = limit->order;
  return result;
}

std::vector<Extrapolation> extrapolations(const StudyRecord &study)
{
  std::vector<Extrapolation> result;
  if (!study.converged())
    return result;
  const auto add = [&](const std::string &name, const bool is_nonnegative, const auto &value_of) {
    if (const auto limit = extrapolate(name, values_up_to(study, study.cycles.size() - 1, value_of),
                                       study.degree, is_nonnegative))
      result.push_back(*limit);
  };
  for (const Quantity &quantity : study.cycles.back().quantities)
    if (quantity.has_limit)
      add(quantity.name, quantity.is_nonnegative, value_of_quantity(quantity.name));
  const auto add_norm = [&](const std::string &name, double SolutionNorms::*norm) {
    add(name, /* is_nonnegative */ true, [norm](const CycleRecord &cycle) {
      return cycle.norms ? std::optional<double>((*cycle.norms).*norm) : std::nullopt;
    });
  };
  add_norm("L2 norm", &SolutionNorms::L2);
  add_norm("H1 norm", &SolutionNorms::H1);
  return result;
}

std::string to_string(const Extrapolation &extrapolation)
{
  std::ostringstream text;
  text.precision(8);
  text << extrapolation.name << ": ";
  if (!extrapolation.value)
    text << "not extrapolated because " << extrapolation.obstacle;
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
/// The algebraic error that a solve may leave, relative to the discretisation error in the energy
/// norm. The two errors are orthogonal, so the total error grows by half a percent only.
constexpr double error_fraction = 0.1;

PredictedError predicted(const double error, const char *const source)
{
  return {error, error_fraction * error, source};
}

std::optional<PredictedError> predict_by_extrapolation(const StudyRecord &study)
{
  if (study.cycles.empty())
    return {};
  const auto limit =
      extrapolate("energy",
                  values_up_to(study, study.cycles.size() - 1,
                               [](const CycleRecord &cycle) { return cycle.energy; }),
                  study.degree, /* is_nonnegative */ false);
  if (!limit || !limit->value || !limit->order || !(limit->last > *limit->value))
    return {};
  return predicted(std::sqrt(2. * (limit->last - *limit->value) / std::exp2(*limit->order)),
                   "energies, extrapolated");
}

/// Returns the factor by which the error changes from @p n0 to @p n1 dofs at the optimal order.
double optimal_reduction(const StudyRecord &study, const double n0, const double n1)
{
  return std::pow(n0 / n1, static_cast<double>(study.degree) / study.dimension);
}

std::optional<PredictedError> predict_from_two_cycles(const StudyRecord &study,
                                                      const std::size_t n_dofs)
{
  if (study.cycles.size() < 2)
    return {};
  const CycleRecord &c1 = study.cycles.end()[-2], &c2 = study.cycles.end()[-1];
  if (!c1.energy || !c2.energy)
    return {};
  const double gain = 2. * (*c1.energy - *c2.energy); // e₁² − e₂²
  if (!(gain > rounding_level * std::abs(*c2.energy)))
    return {};
  const auto n1 = static_cast<double>(c1.dofs), n2 = static_cast<double>(c2.dofs);
  const double next = optimal_reduction(study, n2, static_cast<double>(n_dofs));
  if (c1.estimate && c2.estimate && c2.estimate->error < c1.estimate->error) {
    const double eta1 = c1.estimate->error, eta2 = c2.estimate->error;
    const double effectivity = std::sqrt((eta1 * eta1 - eta2 * eta2) / gain);
    return predicted(next * eta2 / effectivity, "estimator and its effectivity");
  }
  const double reduction = optimal_reduction(study, n1, n2); // e₂/e₁
  if (!(reduction < 1.))
    return {};
  const double error = std::sqrt(gain / (1. / (reduction * reduction) - 1.));
  return predicted(next * error, "energies, best order");
}
} // namespace

std::optional<PredictedError> predict_error(const StudyRecord &study, const std::size_t n_dofs)
{
  if (auto result = predict_by_extrapolation(study))
    return result;
  return predict_from_two_cycles(study, n_dofs);
}
} // namespace femgpu
