#ifndef femgpu_linalg_nonlinear_nonlinearity_h
#define femgpu_linalg_nonlinear_nonlinearity_h

#include "linalg/base/host_device.h"
#include "linalg/nonlinear/expression_reaction.h"

#include <variant>

/**
 * @file
 * The diagonal nonlinear term of A x = b + λ W φ(x): a reaction term φ(u), the same for all
 * unknowns, a factor λ, and weights W = diag(w). φ is a plain struct, so that steps (steps/steps.h)
 * can contain it. It supplies
 *
 *     double value(double u) const;                // φ(u)
 *     double derivative(double u) const;           // φ'(u)
 *     double difference(double u, double d) const; // φ(u + d) − φ(u)
 *     // ∫ (φ(u + t) − φ(u)) dt, 0 <= t <= d
 *     double potential_remainder(double u, double d) const;
 *
 * A new reaction term is added as another alternative of ReactionTerm.
 */
namespace femgpu::linalg
{
/// The reaction term φ(u) = e^u of Bratu's problem.
struct ExponentialReaction
{
  FEMGPU_HD
  double value(const double u) const
  {
    return exp(u);
  }
  FEMGPU_HD
  double derivative(const double u) const
  {
    return exp(u);
  }
  FEMGPU_HD
  double difference(const double u, const double d) const
  {
    return exp(u) * expm1(d);
  }
  FEMGPU_HD
  double potential_remainder(const double u, const double d) const
  {
    // e^d − 1 − d loses all its digits for small d; the first term that the series omits is d⁸ /
    // 40320.
    const double series =
        0.5 + d * (1. / 6. + d * (1. / 24. + d * (1. / 120. + d * (1. / 720. + d / 5040.))));
    const double tail = fabs(d) < 1e-2 ? d * d * series : expm1(d) - d;
    return exp(u) * tail;
  }
};

using ReactionTerm = std::variant<ExponentialReaction, ExpressionReaction>;

/// The function λ φ(u), the same for all unknowns.
struct Nonlinearity
{
  ReactionTerm reaction = ExponentialReaction{};
  double lambda = 1.;
};

/// Evaluates row i of λ W φ(x) within steps (steps/steps.h).
template <class ReactionType>
struct DiagonalTerm
{
  ReactionType reaction;
  double lambda;
  const double *weights; ///< n non-negative numbers

  FEMGPU_HD
  double value(const int i, const double u) const
  {
    return lambda * weights[i] * reaction.value(u);
  }
  FEMGPU_HD
  double derivative(const int i, const double u) const
  {
    return lambda * weights[i] * reaction.derivative(u);
  }
  FEMGPU_HD
  double difference(const int i, const double u, const double d) const
  {
    return lambda * weights[i] * reaction.difference(u, d);
  }
  FEMGPU_HD
  double potential_remainder(const int i, const double u, const double d) const
  {
    return lambda * weights[i] * reaction.potential_remainder(u, d);
  }
};

/// Calls f(term) with the DiagonalTerm of @p phi and @p weights.
template <class Function>
decltype(auto) visit_term(const Nonlinearity &phi, const double *weights, const Function &f)
{
  return std::visit(
      [&](const auto &reaction) {
        return f(DiagonalTerm<std::decay_t<decltype(reaction)>>{reaction, phi.lambda, weights});
      },
      phi.reaction);
}
} // namespace femgpu::linalg

#endif
