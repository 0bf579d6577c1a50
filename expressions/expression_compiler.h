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
 * Compiles an expression of u, as parse_expression() reads it.
 * @param definitions names that users have given
 * @throws ParameterError as parse_expression(), and for programs longer than ExpressionProgram can
 *         hold
 */
ExpressionProgram compile_expression(const std::string &text,
                                     const ExpressionDefinitions &definitions = {});

/// The same of a node of a graph that has one variable. @param text for messages
ExpressionProgram compile_expression(const ExpressionGraph &graph, int root,
                                     const std::string &text);

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
} // namespace femgpu::linalg

#endif
