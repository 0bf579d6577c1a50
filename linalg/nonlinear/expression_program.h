#ifndef femgpu_linalg_nonlinear_expression_program_h
#define femgpu_linalg_nonlinear_expression_program_h

#include "linalg/base/host_device.h"

namespace femgpu::linalg
{
/// What an instruction of an ExpressionProgram does with its operands a and b.
enum class ExpressionOperation : unsigned char
{
  load,
  negate,
  square,
  cube,
  fourth_power,
  add,
  subtract,
  multiply,
  divide,
  power, // and the functions
  min,
  max,
  abs,
  sqrt,
  exp,
  log,
  log10,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh
};

/// Functions of the mathematical library. Not inlined: kernels that evaluate a law at several
/// places would hold all of them as often.
FEMGPU_HD_CALLED
double apply_function(const ExpressionOperation operation, const double a, const double b)
{
  switch (operation) {
  case ExpressionOperation::power:
    return pow(a, b);
  case ExpressionOperation::min: // NaN if one of them is, unlike fmin
    return a != a || a < b ? a : b;
  case ExpressionOperation::max:
    return a != a || a > b ? a : b;
  case ExpressionOperation::abs:
    return fabs(a);
  case ExpressionOperation::sqrt:
    return sqrt(a);
  case ExpressionOperation::exp:
    return exp(a);
  case ExpressionOperation::log:
    return log(a);
  case ExpressionOperation::log10:
    return log10(a);
  case ExpressionOperation::sin:
    return sin(a);
  case ExpressionOperation::cos:
    return cos(a);
  case ExpressionOperation::tan:
    return tan(a);
  case ExpressionOperation::asin:
    return asin(a);
  case ExpressionOperation::acos:
    return acos(a);
  case ExpressionOperation::atan:
    return atan(a);
  case ExpressionOperation::sinh:
    return sinh(a);
  case ExpressionOperation::cosh:
    return cosh(a);
  case ExpressionOperation::tanh:
    return tanh(a);
  default:
    return b;
  }
}

/// The result of @p operation; those with one operand leave b alone, load gives it.
FEMGPU_HD
double apply(const ExpressionOperation operation, const double a, const double b)
{
  switch (operation) {
  case ExpressionOperation::load:
    return b;
  case ExpressionOperation::negate:
    return -a;
  case ExpressionOperation::square:
    return a * a;
  case ExpressionOperation::cube:
    return a * a * a;
  case ExpressionOperation::fourth_power: {
    const double a_2 = a * a;
    return a_2 * a_2;
  }
  case ExpressionOperation::add:
    return a + b;
  case ExpressionOperation::subtract:
    return a - b;
  case ExpressionOperation::multiply:
    return a * b;
  case ExpressionOperation::divide:
    return a / b;
  default:
    return apply_function(operation, a, b);
  }
}

/**
 * An expression of u as a short program for a machine with an accumulator and a stack: a plain
 * struct without pointers. Kernels get it by value, and host and device run the same instructions.
 *
 * An instruction does `accumulator = operation(a, b)`. Where b is a constant or the unknown, a is
 * the accumulator; a load pushes that first. Where b is on the stack, a is popped from there and b
 * is the accumulator.
 */
struct ExpressionProgram
{
  static constexpr int longest = 128;    ///< instructions
  static constexpr int deepest = 16;     ///< values on the stack
  static constexpr int n_constants = 32; ///< different ones

  /// Operands that are no constants.
  static constexpr unsigned char unknown = 255;
  static constexpr unsigned char on_stack = 254;
  static constexpr unsigned char none = 253; ///< of operations with a alone

  int size = 0;
  ExpressionOperation operations[longest] = {};
  unsigned char operands[longest] = {}; ///< number of a constant, or one of the above
  double constants[n_constants] = {};

  /// The value at @p u; 0 of an empty program.
  FEMGPU_HD
  double operator()(const double u) const
  {
    double stack[deepest];
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
      accumulator = apply(operation, a, b);
    }
    return accumulator;
  }
};
} // namespace femgpu::linalg

#endif
