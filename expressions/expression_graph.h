#ifndef femgpu_expressions_expression_graph_h
#define femgpu_expressions_expression_graph_h

#include "expressions/expression_operation.h"

#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/**
 * A graph of operations that represents expressions of several variables and shares their common
 * subexpressions. A node follows its operands. Operations on constants are evaluated when they are
 * added.
 */
class ExpressionGraph
{
public:
  struct Node
  {
    ExpressionOperation operation = ExpressionOperation::load;
    int variable = -1; ///< number of the variable to load; -1: load `value`
    double value = 0.;
    std::array<int, 3> operands = {-1, -1, -1}; ///< numbers of nodes; -1: none

    bool is_constant() const
    {
      return operation == ExpressionOperation::load && variable < 0;
    }
  };

  const Node &operator[](const int number) const
  {
    return nodes[static_cast<std::size_t>(number)];
  }
  int size() const
  {
    return static_cast<int>(nodes.size());
  }

  // Each of the functions below, up to derivative(), returns the number of a node.
  int constant(double value);
  int variable(int number);
  int apply(ExpressionOperation operation, int a, int b = -1, int c = -1);
  /// Returns a^b, computed by multiplication for the exponents 2, 3 and 4.
  int power(int a, int b);

  /**
   * Returns ∂ node / ∂ variable by the rules of differentiation, without terms that are 0. The
   * derivative of min, max, abs and select is that of the selected branch; the derivative of step
   * functions such as floor is 0.
   */
  int derivative(int node, int variable);

  /// Returns the degree of @p node in @p variable: 0 if the node does not depend on the variable, 1
  /// if it is a + b times the variable with a and b independent of the variable, 2 otherwise.
  int degree(int node, int variable) const;

private:
  using Key = std::tuple<ExpressionOperation, int, std::uint64_t, int, int, int>;

  int add(const Node &node);
  int sum(int a, int b);
  int difference(int a, int b);
  int product(int a, int b);
  int quotient(int a, int b);
  bool is(int node, double value) const;
  int derivative_of(int node, int variable);
  int derivative_of_power(int node, int da, int db);
  int slope_of_function(int node);

  std::vector<Node> nodes;
  std::map<Key, int> numbers;
  std::map<std::pair<int, int>, int> derivatives; ///< computed derivatives, by node and variable
};
} // namespace femgpu::linalg

#endif
