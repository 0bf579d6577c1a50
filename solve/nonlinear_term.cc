#include "solve/nonlinear_term.h"

#include "linalg/base/error.h"

#include <limits>

namespace femgpu
{
namespace
{
linalg::ReactionTerm bratu_reaction(Method & /* method */)
{
  return {};
}

linalg::ReactionTerm expression_reaction(Method &method)
{
  constexpr double largest = std::numeric_limits<double>::max();
  const std::string phi = method.expression("phi", "");
  const std::string derivative = method.expression("derivative", "");
  linalg::ReactionRange range;
  range.low = method.number("low", range.low, -largest, largest);
  range.high = method.number("high", range.high, -largest, largest);
  if (phi.empty())
    throw ParameterError(
        "The nonlinear term '" + method.text() +
        "' has no option phi. Write it without blanks, for example 'expression phi=u^3'.");
  return linalg::make_expression_reaction(phi, derivative, {}, range);
}
} // namespace

constexpr decltype(nonlinear_terms)::Entry term_table[] = {
    {"bratu",
     "LAMBDA w exp(u) for Bratu's problem -Δu = LAMBDA exp(u); lambda=LAMBDA (1), "
     "weights=w (h^2 of the generator's grid in the unit square or cube)",
     bratu_reaction},
    {"expression",
     "LAMBDA w phi(u) with phi=EXPRESSION of u, without blanks; a given derivative=EXPRESSION is "
     "checked for u from low=-1 to high=1; lambda= and weights= as for bratu",
     expression_reaction}};

constexpr decltype(nonlinear_terms) nonlinear_terms("nonlinear term", term_table);

NonlinearTerm make_nonlinear_term(const std::string &text)
{
  constexpr double largest = std::numeric_limits<double>::max();
  Method method("nonlinear term", text);
  NonlinearTerm term;
  term.text = method.text();
  term.phi.reaction = nonlinear_terms.find(method.name()).make(method);
  term.phi.lambda = method.number("lambda", 1., -largest, largest);
  constexpr double unset = -1.;
  const double weight = method.number("weights", unset, 0., largest);
  if (weight != unset)
    term.weight = weight;
  method.finish();
  return term;
}
} // namespace femgpu
