#ifndef femgpu_expressions_expression_parser_h
#define femgpu_expressions_expression_parser_h

#include "expressions/expression_graph.h"
#include "linalg/base/choice.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// A function of one argument by its values at points that ascend, at least one: linear between
/// them, constant beyond.
using ValueTable = std::vector<std::pair<double, double>>;

/// What a user has given names.
struct ExpressionDefinitions
{
  std::map<std::string, double> constants; ///< they come before pi and e
  std::map<std::string, ValueTable> tables;
};

/// The names that an expression may use.
struct ExpressionNames
{
  std::vector<std::string> variables; ///< by their numbers
  ExpressionDefinitions definitions;
  std::string parameter; ///< "Section/Key" that has it, for messages; or nothing
};

/// May a user give something the name @p name?
bool is_free_name(const std::string &name);

/**
 * Reads an expression as muParser does, with the functions and operators that deal.II adds: numbers
 * such as 5.67e-8; @p names, pi, e, _pi and _e; from the weakest to the strongest a ? b : c, || and
 * |,
 * && and &, < <= > >= == !=, + -, * / and signs, ^, which is right-associative, so that -u^2 is
 * -(u^2); parentheses; the functions of expression_functions().
 * @return the number of its node in @p graph
 * @throws ParameterError with the text, the column and what was expected; also for constants that
 *         are not finite, for assignments and for random numbers
 */
int parse_expression(const std::string &text, const ExpressionNames &names, ExpressionGraph &graph);

/// The functions that expressions know: "log", "natural logarithm".
std::vector<Choice> expression_functions();
} // namespace femgpu::linalg

#endif
