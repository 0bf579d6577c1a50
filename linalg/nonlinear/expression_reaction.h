#ifndef femgpu_linalg_nonlinear_expression_reaction_h
#define femgpu_linalg_nonlinear_expression_reaction_h

#include "expressions/expression_parser.h"
#include "expressions/expression_program.h"

#include <map>
#include <string>

namespace femgpu::linalg
{
/// A reaction term φ and its derivative φ', given by expressions of u.
struct ExpressionReaction
{
  ExpressionProgram phi, phi_prime;

  FEMGPU_HD
  double value(const double u) const
  {
    return phi(u);
  }

  FEMGPU_HD
  double derivative(const double u) const
  {
    return phi_prime(u);
  }

  /**
   * Returns φ(u + d) − φ(u). If the two values nearly cancel, the result is the integral of φ' by
   * the Gauss rule with 3 points, which has an error of d⁷ φ⁽⁷⁾ / 2016000 but no cancellation. The
   * integral is used only if it agrees with the difference up to the rounding errors of the latter.
   */
  FEMGPU_HD
  double difference(const double u, const double d) const
  {
    const double end = phi(u + d), begin = phi(u);
    const double direct = end - begin;
    const double magnitude = fabs(end) + fabs(begin);
    if (!(fabs(direct) < magnitude / 64.))
      return direct;
    const double s[3] = {0.1127016653792583114820735, 0.5, 0.8872983346207416885179265};
    const double weights[3] = {5. / 18., 8. / 18., 5. / 18.};
    double mean = 0.;
    for (int k = 0; k < 3; ++k)
      mean += weights[k] * phi_prime(u + s[k] * d);
    const double integral = d * mean;
    const double rounding = 4. * 2.2e-16 * (magnitude + fabs(u * mean));
    return fabs(integral - direct) <= rounding ? integral : direct;
  }

  /**
   * Returns ∫ (φ(u + t) − φ(u)) dt, 0 <= t <= d, which is d² ∫ (1 − s) φ'(u + s d) ds, 0 <= s <= 1,
   * by the Gauss-Jacobi rule with 3 points for the weight 1 − s. It is exact for polynomials φ of
   * degree 6, has an error of order d⁸ φ⁽⁷⁾, and avoids cancellation.
   */
  FEMGPU_HD
  double potential_remainder(const double u, const double d) const
  {
    const double s[3] = {0.08858795951270394739554614, 0.4094668644407347108649263,
                         0.7876594617608470560252419};
    const double weights[3] = {0.2009319137389596307721981, 0.2292411063595862466939206,
                               0.06982697990145412253388127};
    double sum = 0.;
    for (int k = 0; k < 3; ++k)
      sum += weights[k] * phi_prime(u + s[k] * d);
    return d * d * sum;
  }
};

static_assert(sizeof(ExpressionReaction) <= 1536,
              "kernels get it by value, next to other parameters");

/// The expected range of u, in which φ' is compared with differences of φ.
struct ReactionRange
{
  double low = -1., high = 1.;
};

/**
 * Compiles φ(u) and φ'(u). If @p phi_prime is empty, φ' is derived by differentiation; otherwise @p
 * phi_prime is compared with differences of φ at points of @p range where φ is finite.
 * compile_expression() describes the syntax.
 * @param definitions names that both expressions may use
 * @throws ParameterError with the position in the text if an expression is invalid; with the point
 * and both values if @p phi_prime is not the derivative of @p phi; with the range if φ is finite
 * nowhere in it
 */
ExpressionReaction make_expression_reaction(const std::string &phi, const std::string &phi_prime,
                                            const ExpressionDefinitions &definitions = {},
                                            const ReactionRange &range = {});
} // namespace femgpu::linalg

#endif
