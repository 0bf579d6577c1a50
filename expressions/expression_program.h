#ifndef femgpu_expressions_expression_program_h
#define femgpu_expressions_expression_program_h

#include "expressions/expression_operation.h"

namespace femgpu::linalg
{
/**
 * An expression of u as a short program for a machine with an accumulator and a stack: a plain
 * struct without pointers. Kernels receive it by value, and host and device run the same
 * instructions.
 *
 * An instruction computes `accumulator = operation(a, b)`. If b is a constant or the unknown, a is
 * the accumulator; load pushes the accumulator before it overwrites it. If the operand is on_stack,
 * a is popped from the stack and b is the accumulator; select also pops its condition.
 */
struct ExpressionProgram
{
  static constexpr int max_instructions = 128;
  static constexpr int max_stack_depth = 16; ///< maximum number of values on the stack
  static constexpr int n_constants = 32;     ///< maximum number of different constants

  /// Special values in `operands`, which do not select a constant.
  static constexpr unsigned char unknown = 255;
  static constexpr unsigned char on_stack = 254;
  static constexpr unsigned char none = 253; ///< for operations with the operand a alone

  int size = 0;
  ExpressionOperation operations[max_instructions] = {};
  unsigned char operands[max_instructions] = {}; ///< index of a constant, or a special value
  double constants[n_constants] = {};

  /// Returns the value at @p u; 0 for an empty program.
  FEMGPU_HD
  double operator()(const double u) const
  {
    double stack[max_stack_depth];
    int depth = 0;
    double accumulator = 0.;
    for (int k = 0; k < size; ++k) {
      const ExpressionOperation operation = operations[k];
      const unsigned char operand = operands[k];
      double a = accumulator, b = accumulator;
      if (operand < n_constants)
        b = constants[operand];
      else if (operand == unknown)
        b = u;
      if (operation == ExpressionOperation::load)
        stack[depth++] = accumulator;
      else if (operand == on_stack)
        a = stack[--depth]; // NOLINT(clang-analyzer-core.uninitialized.Assign): compiled programs
                            // push before they pop
      if (operation == ExpressionOperation::select)
        accumulator = stack[--depth] != 0. ? a : b; // NOLINT(clang-analyzer-core.*): as above
      else
        accumulator = apply(operation, a, b);
    }
    return accumulator;
  }
};
} // namespace femgpu::linalg

#endif
