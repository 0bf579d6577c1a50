#ifndef femgpu_solve_nonlinear_term_h
#define femgpu_solve_nonlinear_term_h

#include "linalg/base/registry.h"
#include "linalg/nonlinear/nonlinearity.h"

#include <optional>
#include <string>

namespace femgpu
{
/// λ W φ(x) of A x = b + λ W φ(x), with one weight for all unknowns.
struct NonlinearTerm
{
  std::string text; ///< it was made from
  linalg::Nonlinearity phi;
  std::optional<double> weight; ///< nothing: that of the generator
};

/// The laws φ; λ and weights are options of all.
extern const Registry<NoTraits, linalg::Law(Method &)> nonlinear_terms;

/**
 * The term that @p text says: "bratu lambda=6", "expression phi=u^3 weights=0.1".
 * @throws ParameterError naming the valid ones for unknown names and options; as
 *         make_expression_law() for expressions
 */
NonlinearTerm make_nonlinear_term(const std::string &text);
} // namespace femgpu

#endif
