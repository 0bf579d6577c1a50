#ifndef femgpu_expressions_expression_tape_h
#define femgpu_expressions_expression_tape_h

#include "expressions/expression_graph.h"
#include "expressions/vector_instruction.h"

#include <array>
#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/**
 * Some nodes of a graph as a list of instructions for the host. Each instruction runs for many
 * points before the next one, with vector instructions of the CPU where a vectorised function
 * exists (vector_loops.h). The result at a point does not depend on the other points, to the last
 * bit. Several threads may use a tape concurrently.
 */
class ExpressionTape
{
public:
  ExpressionTape() = default;
  /// @param results numbers of the nodes of @p graph to evaluate
  /// @param n_variables number of variables of the graph
  ExpressionTape(const ExpressionGraph &graph, const std::vector<int> &results, int n_variables);

  int n_results() const
  {
    return static_cast<int>(result_slots.size());
  }

  /**
   * Stores result r at point i in results[r][i].
   * @param variables variables[v] contains the values of variable v at the @p n_points points
   */
  void evaluate(const double *const *variables, std::size_t n_points, double *const *results) const;

private:
  static constexpr int batch = 64; ///< points per batch: operands stay in the L1 cache
  static_assert(batch % vector_width == 0, "a batch is a multiple of the vector width");

  struct Instruction
  {
    ExpressionOperation operation;
    std::array<int, 3> operands; ///< numbers of slots
    int result;                  ///< number of a slot
  };
  /// A slot: the values of a variable, a constant or an instruction at the points of a batch.
  using Numbers = std::array<double, batch>;

  static void run(const Instruction &instruction, VectorInstruction vector_function, int n_points,
                  Numbers *slots);

  int n_variables = 0;
  std::vector<double> constants;         ///< in the slots after the variables
  std::vector<Instruction> instructions; ///< results are in the slots after the constants
  std::vector<int> result_slots;
};
} // namespace femgpu::linalg

#endif
