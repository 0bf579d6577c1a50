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
 * Some nodes of a graph as a list of instructions for the host, each of which runs over many points
 * before the next one, by vectors of the CPU where there are functions for these (vector_loops.h).
 * A point has the same bits in every company. Several threads may use it.
 */
class ExpressionTape
{
public:
  ExpressionTape() = default;
  /// @param results nodes of @p graph, which has @p n_variables variables
  ExpressionTape(const ExpressionGraph &graph, const std::vector<int> &results, int n_variables);

  int n_results() const
  {
    return static_cast<int>(result_places.size());
  }

  /**
   * Result r at point i becomes results[r][i].
   * @param variables of each its value at every point, @p n_points long
   */
  void evaluate(const double *const *variables, std::size_t n_points, double *const *results) const;

private:
  static constexpr int batch = 64; ///< points: operands of an instruction stay in the first cache
  static_assert(batch % vector_width == 0, "a batch is filled up");

  struct Instruction
  {
    ExpressionOperation operation;
    std::array<int, 3> operands; ///< places
    int result;                  ///< a place
  };
  /// Numbers for a batch: of a variable, a constant or an instruction.
  using Numbers = std::array<double, batch>;

  static void run(const Instruction &instruction, VectorInstruction by_vectors, int n_points,
                  Numbers *places);

  int n_variables = 0;
  std::vector<double> constants;         ///< their places are behind those of the variables
  std::vector<Instruction> instructions; ///< their places are behind those
  std::vector<int> result_places;
};
} // namespace femgpu::linalg

#endif
