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
 * points before the next one, with vector instructions of the CPU if functions for these exist
 * (vector_loops.h). The result at a point does not depend on the other points, to the last bit.
 * Several threads may use a tape.
 */
class ExpressionTape
{
public:
  ExpressionTape() = default;
  /// @param results nodes of @p graph, which has @p n_variables variables
  ExpressionTape(const ExpressionGraph &graph, const std::vector<int> &results, int n_variables);

  int n_results() const
  {
    return static_cast<int>(result_slots.size());
  }

  /**
   * Stores result r at point i in results[r][i].
   * @param variables values of each variable at every point, @p n_points long
   */
  void evaluate(const double *const *variables, std::size_t n_points, double *const *results) const;

private:
  static constexpr int batch = 64; ///< points: operands of an instruction stay in the L1 cache
  static_assert(batch % vector_width == 0, "a batch is a multiple of the vector width");

  struct Instruction
  {
    ExpressionOperation operation;
    std::array<int, 3> operands; ///< positions in memory
    int result;                  ///< a position
  };
  /// Numbers for a batch: the values of a variable, a constant or an instruction.
  using Numbers = std::array<double, batch>;

  static void run(const Instruction &instruction, VectorInstruction vector_function, int n_points,
                  Numbers *slots);

  int n_variables = 0;
  std::vector<double> constants;         ///< stored after the variables
  std::vector<Instruction> instructions; ///< whose results are stored after the constants
  std::vector<int> result_slots;
};
} // namespace femgpu::linalg

#endif
