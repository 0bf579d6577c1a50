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
/// A function of one argument, given by its values at one or more ascending points: linear between
/// them, constant beyond.
using ValueTable = std::vector<std::pair<double, double>>;

/// Names that a user has defined.
struct ExpressionDefinitions
{
  std::map<std::string, double> constants; ///< take precedence over pi and e
  std::map<std::string, ValueTable> tables;
};

/// The names that an expression may use.
struct ExpressionNames
{
  std::vector<std::string> variables; ///< in the order of their numbers
  ExpressionDefinitions definitions;
  std::string parameter; ///< "Section/Key" of the expression, for messages; may be empty
};

/// Returns whether a user may define the name @p name.
bool is_definable_name(const std::string &name);

/**
 * Parses an expression as muParser does, with the functions and operators that deal.II adds:
 * numbers such as 5.67e-8; @p names, pi, e, _pi and _e; parentheses; the functions of
 * expression_functions(); and operators, from the weakest to the strongest:
 *
 *     a ? b : c    || |    && &    < <= > >= == !=    + -    * /    signs    ^
 *
 * ^ is right-associative, and -u^2 is -(u^2).
 * @return the number of the expression's node in @p graph
 * @throws ParameterError with the text, the column and what was expected; also for constants that
 * are not finite, for assignments and for random numbers
 */
int parse_expression(const std::string &text, const ExpressionNames &names, ExpressionGraph &graph);

/// Returns the functions for expressions with their meanings: "log", "natural logarithm".
std::vector<Choice> expression_functions();
} // namespace femgpu::linalg

#endif
