#ifndef femgpu_expressions_expression_functions_h
#define femgpu_expressions_expression_functions_h

#include "expressions/expression_graph.h"
#include "expressions/expression_parser.h"

#include <string>
#include <vector>

/**
 * @file
 * The functions of expressions, as nodes of a graph.
 */
namespace femgpu::linalg
{
using Arguments = std::vector<int>; ///< numbers of nodes

struct ExpressionFunction
{
  const char *name;
  int n_arguments; ///< number of arguments, or `variadic`
  int (*make)(ExpressionGraph &graph, const Arguments &arguments);
  const char *meaning;
};

constexpr int variadic = -1; ///< n_arguments of a function of one or more arguments

/// Returns the function with that name; nullptr if there is none.
const ExpressionFunction *find_function(const std::string &name);

/// Returns the names of all functions: "abs, sqrt, ..."
std::string function_names();

/// Returns the node whose value if(), | and & compare with 0 to evaluate the condition @p node:
/// this node if it is a comparison or logical operation, otherwise its value rounded to an integer,
/// as in deal.II.
int condition(ExpressionGraph &graph, int node);

/**
 * Returns a node with the value of @p table at node @p a, as the formula y_0 + Σ s_k (min(max(a,
 * x_k), x_{k+1}) − x_k) with the slopes s_k, so that the derivative is the slope, and evaluators do
 * not need to support tables.
 */
int interpolate(ExpressionGraph &graph, const ValueTable &table, int a);
} // namespace femgpu::linalg

#endif
