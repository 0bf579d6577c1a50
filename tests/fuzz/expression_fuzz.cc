// Fuzzes the parser of expressions. Any input must either be rejected with a message or give a
// graph in which every node, also of a derivative, comes after its operands. The compiled
// instructions must give the values of the graph.
#include "expressions/expression_compiler.h"
#include "linalg/base/error.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace femgpu;
using namespace femgpu::linalg;

namespace
{
void require(const bool condition)
{
  if (!condition)
    std::abort();
}

/// Evaluates node @p root at @p u.
double value_of(const ExpressionGraph &graph, const int root, const double u)
{
  std::vector<double> values;
  for (int number = 0; number <= root; ++number) {
    const ExpressionGraph::Node &node = graph[number];
    double operands[3] = {};
    for (std::size_t k = 0; k < 3; ++k)
      if (node.operands[k] >= 0) {
        require(node.operands[k] < number);
        operands[k] = values[static_cast<std::size_t>(node.operands[k])];
      }
    if (node.operation == ExpressionOperation::load)
      values.push_back(node.variable < 0 ? node.value : u);
    else if (node.operation == ExpressionOperation::select)
      values.push_back(operands[0] != 0. ? operands[1] : operands[2]);
    else
      values.push_back(apply(node.operation, operands[0], operands[1]));
  }
  return values.back();
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, const std::size_t size)
{
  const std::string text(reinterpret_cast<const char *>(data), size);
  const ExpressionDefinitions definitions = {{{"c", 2.5}}, {{"k", {{0., 1.}, {2., 5.}}}}};
  try {
    ExpressionGraph graph;
    const int root = parse_expression(text, {{"u"}, definitions, ""}, graph);
    require(graph.degree(root, 0) >= 0 && graph.degree(root, 0) <= 2);
    const int derivative = graph.derivative(root, 0);
    for (const double u : {-1.5, 0., 0.75, 300.}) {
      value_of(graph, derivative, u);
      const double expected = value_of(graph, root, u);
      const double value = compile_expression(graph, root, text)(u);
      require(std::memcmp(&expected, &value, sizeof value) == 0 ||
              (expected != expected && value != value));
    }
  }
  catch (const ParameterError &error) {
    require(std::strlen(error.what()) > 0);
  }
  return 0;
}
