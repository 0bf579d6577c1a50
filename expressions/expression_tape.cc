#include "expressions/expression_tape.h"

#include <algorithm>

namespace femgpu::linalg
{
using Operation = ExpressionOperation;

ExpressionTape::ExpressionTape(const ExpressionGraph &graph, const std::vector<int> &results,
                               const int n_variables)
    : n_variables(n_variables)
{
  std::vector<bool> is_needed(static_cast<std::size_t>(graph.size()), false);
  for (const int result : results)
    is_needed[result] = true;
  for (int k = graph.size() - 1; k >= 0; --k) // a node follows its operands
    for (const int operand : graph[k].operands)
      if (is_needed[k] && operand >= 0)
        is_needed[operand] = true;
  std::vector<int> slots(is_needed.size(), -1);
  for (int k = 0; k < graph.size(); ++k)
    if (is_needed[k] && graph[k].operation == Operation::load) {
      slots[k] = graph[k].is_constant() ? n_variables + static_cast<int>(constants.size())
                                        : graph[k].variable;
      if (graph[k].is_constant())
        constants.push_back(graph[k].value);
    }
  int next = n_variables + static_cast<int>(constants.size());
  for (int k = 0; k < graph.size(); ++k) {
    const ExpressionGraph::Node &node = graph[k];
    if (!is_needed[k] || node.operation == Operation::load)
      continue;
    slots[k] = next++;
    Instruction instruction = {node.operation, {0, 0, 0}, slots[k]};
    for (int operand = 0; operand < n_operands(node.operation); ++operand)
      instruction.operands[operand] = slots[node.operands[operand]];
    instructions.push_back(instruction);
  }
  for (const int result : results)
    result_slots.push_back(slots[result]);
}

void ExpressionTape::evaluate(const double *const *variables, const std::size_t n_points,
                              double *const *results) const
{
  static const VectorInstruction vector_function = vector_instruction();
  thread_local std::vector<Numbers> memory;
  const std::size_t n_inputs = n_variables + constants.size();
  memory.resize(std::max(memory.size(), n_inputs + instructions.size()));
  const auto padded = [](const std::size_t n) {
    return static_cast<int>((n + vector_width - 1) / vector_width * vector_width);
  };
  const int n_batch = padded(std::min<std::size_t>(n_points, batch));
  for (std::size_t k = 0; k < constants.size(); ++k)
    std::fill_n(memory[n_variables + k].data(), n_batch, constants[k]);
  for (std::size_t first = 0; first < n_points; first += batch) {
    const auto n = static_cast<int>(std::min<std::size_t>(n_points - first, batch));
    const int n_padded = padded(static_cast<std::size_t>(n));
    for (int k = 0; k < n_variables; ++k) {
      double *const end = std::copy_n(variables[k] + first, n, memory[k].data());
      std::fill_n(end, n_padded - n, end[-1]); // padding that takes the same code path as a point
    }
    for (const Instruction &instruction : instructions)
      run(instruction, vector_function, n_padded, memory.data());
    for (std::size_t r = 0; r < result_slots.size(); ++r)
      std::copy_n(memory[result_slots[r]].begin(), n, results[r] + first);
  }
}

void ExpressionTape::run(const Instruction &instruction, const VectorInstruction vector_function,
                         const int n_points, Numbers *const slots)
{
  const auto &[operation, operands, slot] = instruction;
  const double *const a = slots[operands[0]].data(), *const b = slots[operands[1]].data(),
                      *const c = slots[operands[2]].data();
  double *const result = slots[slot].data();
  if (vector_function != nullptr && vector_function(operation, a, b, c, result, n_points))
    return;
  for (int i = 0; i < n_points; ++i)
    result[i] =
        operation == Operation::select ? (a[i] != 0. ? b[i] : c[i]) : apply(operation, a[i], b[i]);
}
} // namespace femgpu::linalg
