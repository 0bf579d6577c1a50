#include "expressions/expression_compiler.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace femgpu::linalg
{
namespace
{
using Operation = ExpressionOperation;

/// Emits the instructions of a graph with one variable.
class Emitter
{
public:
  Emitter(const std::string &text, const ExpressionGraph &graph) : text(text), graph(graph)
  {}

  ExpressionProgram emit(const int root)
  {
    visit(root);
    return program;
  }

private:
  using Node = ExpressionGraph::Node;

  void visit(const int number)
  {
    const Node &node = graph[number];
    switch (n_operands(node.operation)) {
    case 0:
      depth += 1;
      if (depth > ExpressionProgram::max_stack_depth)
        throw_error("intermediate values", ExpressionProgram::max_stack_depth);
      append(Operation::load, leaf(node));
      break;
    case 1:
      visit(node.operands[0]);
      append(node.operation, ExpressionProgram::none);
      break;
    case 2:
      visit_two(node);
      break;
    default:
      for (const int operand : node.operands)
        visit(operand);
      depth -= 2;
      append(node.operation, ExpressionProgram::on_stack);
    }
  }

  void visit_two(const Node &node)
  {
    const auto [left, right, none] = node.operands;
    const bool commutes = node.operation == Operation::add || node.operation == Operation::multiply;
    const bool swaps = commutes && is_leaf(left) && !is_leaf(right);
    visit(swaps ? right : left);
    const int second = swaps ? left : right;
    if (is_leaf(second)) {
      append(node.operation, leaf(graph[second]));
      return;
    }
    visit(second);
    depth -= 1;
    append(node.operation, ExpressionProgram::on_stack);
  }

  bool is_leaf(const int number) const
  {
    return graph[number].operation == Operation::load;
  }

  /// Returns the instruction operand that represents the leaf @p node.
  unsigned char leaf(const Node &node)
  {
    if (!node.is_constant())
      return ExpressionProgram::unknown;
    int k = 0;
    while (k < used_constants && program.constants[k] != node.value)
      ++k;
    if (k == ExpressionProgram::n_constants)
      throw_error("different constants", ExpressionProgram::n_constants);
    used_constants = std::max(used_constants, k + 1);
    program.constants[k] = node.value;
    return static_cast<unsigned char>(k);
  }

  void append(const Operation operation, const unsigned char operand)
  {
    if (program.size == ExpressionProgram::max_instructions)
      throw_error("instructions", ExpressionProgram::max_instructions);
    program.operations[program.size] = operation;
    program.operands[program.size] = operand;
    ++program.size;
  }

  [[noreturn]] void throw_error(const std::string &what, const int limit) const
  {
    throw ParameterError("The expression '" + text + "' needs more than " + std::to_string(limit) +
                         " " + what + ". Simplify it, for example with fewer nested parentheses.");
  }

  const std::string &text;
  const ExpressionGraph &graph;
  ExpressionProgram program;
  int depth = 0; // values on the stack
  int used_constants = 0;
};
} // namespace

ExpressionProgram compile_expression(const ExpressionGraph &graph, const int root,
                                     const std::string &text)
{
  return Emitter(text, graph).emit(root);
}

ExpressionProgram compile_expression(const std::string &text,
                                     const ExpressionDefinitions &definitions)
{
  ExpressionGraph graph;
  const int root = parse_expression(text, {{"u"}, definitions, ""}, graph);
  return compile_expression(graph, root, text);
}

namespace
{
/// Returns the result of @p operation for affine forms, as apply() does for numbers; std::nullopt
/// if the result is not affine.
std::optional<AffineForm> apply_to_forms(const Operation operation, const AffineForm &a,
                                         const AffineForm &b)
{
  switch (operation) {
  case Operation::load:
    return b;
  case Operation::negate:
    return AffineForm{-a.constant, -a.slope};
  case Operation::add:
    return AffineForm{a.constant + b.constant, a.slope + b.slope};
  case Operation::subtract:
    return AffineForm{a.constant - b.constant, a.slope - b.slope};
  case Operation::multiply:
    if (a.slope != 0. && b.slope != 0.)
      return {};
    return AffineForm{a.constant * b.constant, a.constant * b.slope + a.slope * b.constant};
  case Operation::divide:
    if (b.slope != 0.)
      return {};
    return AffineForm{a.constant / b.constant, a.slope / b.constant};
  default:
    if (a.slope != 0. || b.slope != 0.)
      return {};
    return AffineForm{apply(operation, a.constant, b.constant), 0.};
  }
}
} // namespace

std::optional<AffineForm> affine_form(const ExpressionProgram &program)
{
  std::vector<AffineForm> stack;
  AffineForm accumulator;
  for (int k = 0; k < program.size; ++k) {
    const unsigned char operand = program.operands[k];
    AffineForm a = accumulator, b = accumulator;
    if (operand < ExpressionProgram::n_constants)
      b = {program.constants[operand], 0.};
    else if (operand == ExpressionProgram::unknown)
      b = {0., 1.};
    if (program.operations[k] == Operation::select)
      return {};
    if (program.operations[k] == Operation::load)
      stack.push_back(accumulator);
    else if (operand == ExpressionProgram::on_stack) {
      a = stack.back();
      stack.pop_back();
    }
    const auto result = apply_to_forms(program.operations[k], a, b);
    if (!result)
      return {};
    accumulator = *result;
  }
  if (!std::isfinite(accumulator.constant) || !std::isfinite(accumulator.slope))
    return {};
  return accumulator;
}

} // namespace femgpu::linalg
