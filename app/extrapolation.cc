#include "app/extrapolation.h"

#include "app/quantity_table.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace femgpu
{
namespace
{
// Slower than near any corner or crack.
constexpr double least_order = 0.2;

/**
 * Functionals of smooth solutions converge with order 2 p, p the degree, and those that depend on
 * the quadrature of the data alone, such as the flux through the whole boundary, with that of
 * Gauss' rule, 2 p + 2. Observed orders scatter about these.
 */
double largest_order(const unsigned int degree)
{
  return 2. * degree + 2.5;
}

} // namespace

Extrapolation extrapolate(const std::string &name, const double v0, const double v1,
                          const double v2, const unsigned int degree)
{
  Extrapolation result;
  result.name = name;
  result.last = v2;
  const double first = v0 - v1, second = v1 - v2;
  if (std::abs(first) + std::abs(second) <= rounding_level * std::abs(v2)) {
    result.value = v2;
    result.relative_error = 0.;
  }
  else if (!(first * second > 0.))
    result.obstacle = "the last three values are not monotone";
  else {
    const double ratio = first / second;
    std::ostringstream text;
    text.precision(3);
    result.order = std::log2(ratio);
    if (*result.order >= least_order && *result.order <= largest_order(degree)) {
      result.value = v2 + (v2 - v1) / (ratio - 1.);
      if (*result.value != 0.)
        result.relative_error = std::abs((*result.value - v2) / *result.value);
    }
    else {
      text << "an order of " << *result.order << " is not plausible (" << least_order << " to "
           << largest_order(degree) << " would be)";
      result.obstacle = text.str();
    }
  }
  return result;
}

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
} // namespace femgpu
