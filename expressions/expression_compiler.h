#ifndef femgpu_expressions_expression_compiler_h
#define femgpu_expressions_expression_compiler_h

#include "expressions/expression_parser.h"
#include "expressions/expression_program.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * Compiles an expression of u, with the syntax of parse_expression().
 * @param definitions names that users have defined
 * @throws ParameterError as parse_expression(), and if the program exceeds the limits of
 * ExpressionProgram
 */
ExpressionProgram compile_expression(const std::string &text,
                                     const ExpressionDefinitions &definitions = {});

/// Compiles node @p root of a graph with one variable.
/// @param text the expression, for messages
ExpressionProgram compile_expression(const ExpressionGraph &graph, int root,
                                     const std::string &text);

/// The affine function constant + slope u.
struct AffineForm
{
  double constant = 0., slope = 0.;
};

/**
 * Returns the affine form of @p program if it only adds constants and multiples of u; std::nullopt
 * for any other program, even if its nonlinear terms cancel.
 */
std::optional<AffineForm> affine_form(const ExpressionProgram &program);
} // namespace femgpu::linalg

#endif
