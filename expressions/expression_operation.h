#ifndef femgpu_expressions_expression_operation_h
#define femgpu_expressions_expression_operation_h

#include "linalg/base/host_device.h"

namespace femgpu::linalg
{
/// An operation on a and b; comparisons yield 1 or 0.
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
  select, ///< has three operands: returns the second if the first is not 0, else the third
  less,   // this operation and all later ones are in apply_function()
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  power,
  min,
  max,
  abs,
  sign,
  floor,
  ceil,
  round, ///< halves are rounded away from zero
  sqrt,
  exp,
  log,
  log2,
  log10,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  erfc
};

/// Returns the number of operands of @p operation.
constexpr int n_operands(const ExpressionOperation operation)
{
  using Operation = ExpressionOperation;
  switch (operation) {
  case Operation::load:
    return 0;
  case Operation::select:
    return 3;
  case Operation::add:
  case Operation::subtract:
  case Operation::multiply:
  case Operation::divide:
  case Operation::less:
  case Operation::less_equal:
  case Operation::equal:
  case Operation::not_equal:
  case Operation::logical_and:
  case Operation::logical_or:
  case Operation::power:
  case Operation::min:
  case Operation::max:
  case Operation::atan2:
    return 2;
  default:
    return 1;
  }
}

/// Evaluates functions of the mathematical library, and rare operations. Not inlined, so that a
/// kernel contains these functions once, even if its code evaluates expressions in several places.
FEMGPU_HD_CALLED
double apply_function(const ExpressionOperation operation, const double a, const double b)
{
  switch (operation) {
  case ExpressionOperation::less:
    return a < b ? 1. : 0.;
  case ExpressionOperation::less_equal:
    return a <= b ? 1. : 0.;
  case ExpressionOperation::equal:
    return a == b ? 1. : 0.;
  case ExpressionOperation::not_equal:
    return a != b ? 1. : 0.;
  case ExpressionOperation::logical_and:
    return a != 0. && b != 0. ? 1. : 0.;
  case ExpressionOperation::logical_or:
    return a != 0. || b != 0. ? 1. : 0.;
  case ExpressionOperation::power:
    return pow(a, b);
  case ExpressionOperation::min: // NaN if an operand is NaN, unlike fmin
    return a != a || a < b ? a : b;
  case ExpressionOperation::max:
    return a != a || a > b ? a : b;
  case ExpressionOperation::abs:
    return fabs(a);
  case ExpressionOperation::sign:
    return a > 0. ? 1. : a < 0. ? -1. : a;
  case ExpressionOperation::floor:
    return floor(a);
  case ExpressionOperation::ceil:
    return ceil(a);
  case ExpressionOperation::round:
    return round(a);
  case ExpressionOperation::sqrt:
    return sqrt(a);
  case ExpressionOperation::exp:
    return exp(a);
  case ExpressionOperation::log:
    return log(a);
  case ExpressionOperation::log2:
    return log2(a);
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
  case ExpressionOperation::atan2:
    return atan2(a, b);
  case ExpressionOperation::sinh:
    return sinh(a);
  case ExpressionOperation::cosh:
    return cosh(a);
  case ExpressionOperation::tanh:
    return tanh(a);
  case ExpressionOperation::asinh:
    return asinh(a);
  case ExpressionOperation::acosh:
    return acosh(a);
  case ExpressionOperation::atanh:
    return atanh(a);
  case ExpressionOperation::erf:
    return erf(a);
  case ExpressionOperation::erfc:
    return erfc(a);
  default:
    return b;
  }
}

/// Returns the result of @p operation, which must not be select. Operations with one operand ignore
/// b; load, which has none, returns b.
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
} // namespace femgpu::linalg

#endif
