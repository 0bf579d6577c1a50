#ifndef femgpu_tests_linalg_expression_checks_h
#define femgpu_tests_linalg_expression_checks_h

#include "linalg/execution/this_backend.h"
#include "linalg/memory/buffer.h"
#include "linalg/nonlinear/nonlinearity.h"
#include "tests/linalg/on_backend.h"
#include "tests/linalg/step_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

/**
 * @file
 * Checks, for any backend, that steps (kernels, linalg/steps/steps.h) evaluate a compiled reaction
 * term correctly.
 */
namespace femgpu::linalg::test
{
/// The body of a kernel step that stores four numbers for each row: value, derivative, difference
/// and potential remainder of a reaction term at u_i.
struct EvaluateTerm
{
  DiagonalTerm<ExpressionReaction> term;
  const double *u;
  double *results;

  FEMGPU_HD
  void operator()(const int i) const
  {
    double *const result = results + 4 * static_cast<std::size_t>(i);
    result[0] = term.value(i, u[i]);
    result[1] = term.derivative(i, u[i]);
    result[2] = term.difference(i, u[i], 0.125);
    result[3] = term.potential_remainder(i, u[i], 0.125);
  }
};

/// Returns the results of a step with the body EvaluateTerm, λ = 2 and weights 1/2.
template <class Backend>
std::vector<double> evaluate_term(const ExecutorPtr &executor, const ExpressionReaction &reaction,
                                  const std::vector<double> &u)
{
  const int n = static_cast<int>(u.size());
  Buffer<double> weights(executor, u.size()), points(executor, u.size());
  Buffer<double> results(executor, 4 * u.size());
  weights.copy_from_host(std::vector<double>(u.size(), 0.5).data());
  points.copy_from_host(u.data());
  const DiagonalTerm<ExpressionReaction> term{reaction, 2., weights.data()};
  Runner<Backend>(*executor).run(rows(n, EvaluateTerm{term, points.data(), results.data()}));
  return results.to_host();
}

/// Returns a reaction term with every operation of compiled expressions, valid between 0 and 1.
inline ExpressionReaction reaction_with_all_operations()
{
  const char *const phi =
      "-(exp(u) + log(u + 1) - log10(u + 2)*sqrt(u + 1)/abs(u - 3)) + sin(u)"
      " + cos(u) - tan(u) + asin(u/2) + acos(u/3) + atan(u) + sinh(u) + cosh(u)"
      " - tanh(u) + u^2 + u^3 + u^4 + u^2.5 + pow(u, 5) + min(u, 9) - max(u, -9)";
  const char *const derivative =
      "-(exp(u) + 1/(u + 1) - (sqrt(u + 1)/(log(10)*(u + 2)*(3 - u))"
      " + log10(u + 2)*(0.5/(sqrt(u + 1)*(3 - u)) + sqrt(u + 1)/(3 - u)^2)))"
      " + cos(u) - sin(u) - 1/cos(u)^2 + 1/sqrt(4 - u^2) - 1/sqrt(9 - u^2) + 1/(1 + u^2) + cosh(u)"
      " + sinh(u) - 1/cosh(u)^2 + 2*u + 3*u^2 + 4*u^3 + 2.5*u^1.5 + 5*u^4";
  return make_expression_reaction(phi, derivative, {}, {0., 1.});
}

template <class Backend>
void check_reactions_in_steps(const ExecutorPtr &executor)
{
  const ExpressionReaction reaction = reaction_with_all_operations();
  for (const int n : {0, 1, 31, 32, 33, 10007}) {
    std::vector<double> u(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
      u[i] = (i + 0.5) / n;
    const std::vector<double> results = evaluate_term<Backend>(executor, reaction, u);
    EXPECT_EQ(results, evaluate_term<Backend>(executor, reaction, u));
    for (int i = 0; i < n; ++i) {
      const double expected[] = {reaction.value(u[i]), reaction.derivative(u[i]),
                                 reaction.difference(u[i], 0.125),
                                 reaction.potential_remainder(u[i], 0.125)};
      for (int k = 0; k < 4; ++k)
        ASSERT_NEAR(results[4 * i + k], expected[k], 100. * eps) << "u = " << u[i] << ", " << k;
    }
  }
}
} // namespace femgpu::linalg::test

#endif
