#ifndef femgpu_linalg_nonlinear_expression_compiler_h
#define femgpu_linalg_nonlinear_expression_compiler_h

#include "linalg/base/choice.h"
#include "linalg/nonlinear/expression_program.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * Compiles an expression of u as muParser reads it: numbers such as 5.67e-8; u, pi, e and
 * @p constants; + - * / ^ and parentheses; the functions of expression_functions(). ^ is
 * right-associative and binds more strongly than a sign: -u^2 is -(u^2). What has constants alone
 * is computed here; the exponents 2, 3 and 4 become multiplications.
 * @param constants names and values; they come before pi and e
 * @throws ParameterError with the text, the column and what was expected; also for constants that
 *         are not finite, and for programs longer than ExpressionProgram can hold
 */
ExpressionProgram compile_expression(const std::string &text,
                                     const std::map<std::string, double> &constants = {});

/// constant + slope u
struct AffineForm
{
  double constant = 0., slope = 0.;
};

/**
 * The form of a @p program that adds constants and multiples of u; nothing for any other, also one
 * whose other terms cancel.
 */
std::optional<AffineForm> affine_form(const ExpressionProgram &program);

/// The functions that expressions know: "log", "natural logarithm".
std::vector<Choice> expression_functions();
} // namespace femgpu::linalg

#endif
