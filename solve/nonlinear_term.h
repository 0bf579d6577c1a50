#ifndef femgpu_solve_nonlinear_term_h
#define femgpu_solve_nonlinear_term_h

#include "linalg/base/registry.h"
#include "linalg/nonlinear/nonlinearity.h"

#include <optional>
#include <string>

namespace femgpu
{
/// The nonlinear term λ W φ(x) of A x = b + λ W φ(x), where W has the same weight for all unknowns.
struct NonlinearTerm
{
  std::string text; ///< the term as the user wrote it
  linalg::Nonlinearity phi;
  std::optional<double> weight; ///< empty: use the generator's weight
};

/// The nonlinear terms φ that the user can choose. All have the options lambda and weights.
extern const Registry<NoTraits, linalg::ReactionTerm(Method &)> nonlinear_terms;

/**
 * Parses a nonlinear term: "bratu lambda=6", "expression phi=u^3 weights=0.1".
 * @throws ParameterError for an unknown name or option, with the valid ones
 * @throws ParameterError for an invalid expression, with the position in it
 */
NonlinearTerm make_nonlinear_term(const std::string &text);
} // namespace femgpu

#endif
