#include "linalg/nonlinear/expression_reaction.h"

#include "expressions/expression_compiler.h"
#include "linalg/base/error.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
constexpr double eps = std::numeric_limits<double>::epsilon();

/// An approximation of φ'(u) and its estimated error.
struct Slope
{
  double value = 0.;
  double error = std::numeric_limits<double>::infinity(); ///< infinite: no approximation
};

/// Returns (φ(u + h) − φ(u − h)) / 2h.
double central_difference(const ExpressionProgram &phi, const double u, const double h)
{
  return (phi(u + h) - phi(u - h)) / ((u + h) - (u - h));
}

/**
 * Returns Richardson's extrapolation of central differences, for the spacing with the smallest
 * estimated error. The estimate is the change by the last halving of the spacing, plus rounding.
 */
Slope slope_of(const ExpressionProgram &phi, const double u, const double width)
{
  constexpr int n_spacings = 20;
  Slope best;
  double h = width / 64.;
  for (int k = 0; k < n_spacings; ++k, h /= 2.) {
    const double coarse = central_difference(phi, u, h);
    const double fine = central_difference(phi, u, h / 2.);
    const double magnitude = std::abs(phi(u)) + std::abs(u * fine);
    const double error = std::abs(coarse - fine) + 100. * eps * magnitude / h;
    if (error < best.error) // false for NaN
      best = {(4. * fine - coarse) / 3., error};
  }
  return best;
}

std::string text_of(const double value)
{
  if (std::isnan(value))
    return "nan"; // whatever its sign
  std::ostringstream text;
  text.precision(8);
  text << value;
  return text.str();
}

/// Checks that φ' is the derivative of φ, at points of @p range.
/// @throws ParameterError if it is not, or if φ is finite nowhere in the range
/// @param phi_prime the expression that the user gave for φ'; if it is empty, φ' was derived and is
/// correct
void check_derivative(const ExpressionReaction &reaction, const std::string &phi,
                      const std::string &phi_prime, const ReactionRange &range)
{
  constexpr int n_points = 32;
  constexpr double tolerance = 1e-6;
  constexpr double offset = 0.4142; // keeps the points off zero and other round numbers
  const double width = range.high - range.low;
  bool is_finite_somewhere = false;
  for (int k = 0; k < n_points; ++k) {
    const double u = range.low + width * (k + offset) / n_points;
    const Slope slope = slope_of(reaction.phi, u, width);
    if (!std::isfinite(reaction.phi(u)) || !std::isfinite(slope.error))
      continue;
    is_finite_somewhere = true;
    if (phi_prime.empty())
      break;
    const double specified = reaction.phi_prime(u);
    if (!(std::abs(specified - slope.value) <= slope.error + tolerance * std::abs(slope.value)))
      throw ParameterError("'" + phi_prime + "' is not the derivative of '" + phi +
                           "': at u = " + text_of(u) + " it is " + text_of(specified) +
                           ", but finite differences of '" + phi + "' give " +
                           text_of(slope.value) + ". Fix one of the two expressions.");
  }
  if (!is_finite_somewhere)
    throw ParameterError("The expression '" + phi + "' is not finite anywhere for u from " +
                         text_of(range.low) + " to " + text_of(range.high) +
                         ". Fix it, or set the range in which u is expected.");
}
} // namespace

ExpressionReaction make_expression_reaction(const std::string &phi, const std::string &phi_prime,
                                            const ExpressionDefinitions &definitions,
                                            const ReactionRange &range)
{
  if (!std::isfinite(range.high - range.low) || !(range.low < range.high))
    throw ParameterError("The range of u is from " + text_of(range.low) + " to " +
                         text_of(range.high) + ". Give two finite numbers, the smaller one first.");
  ExpressionGraph graph;
  const ExpressionNames names = {{"u"}, definitions, ""};
  const int root = parse_expression(phi, names, graph);
  const bool is_set = phi_prime.find_first_not_of(" \t") != std::string::npos;
  const int derivative =
      is_set ? parse_expression(phi_prime, names, graph) : graph.derivative(root, 0);
  const ExpressionReaction reaction = {
      compile_expression(graph, root, phi),
      compile_expression(graph, derivative, is_set ? phi_prime : "derivative of " + phi)};
  check_derivative(reaction, phi, is_set ? phi_prime : "", range);
  return reaction;
}
} // namespace femgpu::linalg
