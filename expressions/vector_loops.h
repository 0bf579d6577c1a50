#ifndef femgpu_expressions_vector_loops_h
#define femgpu_expressions_vector_loops_h

#include "expressions/vector_instruction.h"

#include <immintrin.h>

/**
 * @file
 * The body of a file that is compiled for one kind of CPU and defines a VectorInstruction. The
 * file first defines the macros FEMGPU_RUN (the name of this VectorInstruction), FEMGPU_VECTOR (the
 * vector type), and FEMGPU_OF_ONE and FEMGPU_OF_TWO (the names of the vector functions with one and
 * two arguments in libmvec of the GNU C library, which have errors of up to 4 ulp; tan is omitted,
 * because 1/tan would have larger errors). The file must contain nothing else: code that it shares
 * with other files, such as a template of the standard library, would be compiled for this CPU in
 * all of them.
 */
#define FEMGPU_FUNCTIONS_OF_ONE(what)                                                              \
  what(exp) what(log) what(log2) what(log10) what(sin) what(cos) what(asin) what(acos) what(atan)  \
      what(sinh) what(cosh) what(tanh) what(asinh) what(acosh) what(atanh) what(erf) what(erfc)

/// Defines the `case` of a function with one argument, by its vector function.
#define FEMGPU_CASE(name)                                                                          \
  case femgpu::linalg::ExpressionOperation::name:                                                  \
    for (int i = 0; i < n; i += width)                                                             \
      store(result + i, FEMGPU_OF_ONE(name)(load(a + i)));                                         \
    return true;

/// Defines the `case` of @p operation with two arguments, by the vector function @p name.
#define FEMGPU_CASE_OF_TWO(operation, name)                                                        \
  case femgpu::linalg::ExpressionOperation::operation:                                             \
    for (int i = 0; i < n; i += width)                                                             \
      store(result + i, FEMGPU_OF_TWO(name)(load(a + i), load(b + i)));                            \
    return true;

/// Defines the `case` of an operation whose loop the compiler vectorises.
#define FEMGPU_CASE_OF_LOOP(operation, expression)                                                 \
  case femgpu::linalg::ExpressionOperation::operation:                                             \
    for (int i = 0; i < n; ++i)                                                                    \
      result[i] = expression;                                                                      \
    return true;

#define FEMGPU_ALL_CASES                                                                           \
  FEMGPU_FUNCTIONS_OF_ONE(FEMGPU_CASE)                                                             \
  FEMGPU_CASE_OF_TWO(power, pow)                                                                   \
  FEMGPU_CASE_OF_TWO(atan2, atan2)                                                                 \
  FEMGPU_CASE_OF_LOOP(negate, -a[i])                                                               \
  FEMGPU_CASE_OF_LOOP(square, a[i] * a[i])                                                         \
  FEMGPU_CASE_OF_LOOP(cube, a[i] * a[i] * a[i])                                                    \
  FEMGPU_CASE_OF_LOOP(fourth_power, (a[i] * a[i]) * (a[i] * a[i]))                                 \
  FEMGPU_CASE_OF_LOOP(add, a[i] + b[i])                                                            \
  FEMGPU_CASE_OF_LOOP(subtract, a[i] - b[i])                                                       \
  FEMGPU_CASE_OF_LOOP(multiply, a[i] * b[i])                                                       \
  FEMGPU_CASE_OF_LOOP(divide, a[i] / b[i])                                                         \
  FEMGPU_CASE_OF_LOOP(select, a[i] != 0. ? b[i] : c[i])                                            \
  FEMGPU_CASE_OF_LOOP(less, a[i] < b[i] ? 1. : 0.)                                                 \
  FEMGPU_CASE_OF_LOOP(less_equal, a[i] <= b[i] ? 1. : 0.)                                          \
  FEMGPU_CASE_OF_LOOP(sqrt, __builtin_sqrt(a[i]))                                                  \
  FEMGPU_CASE_OF_LOOP(abs, __builtin_fabs(a[i]))                                                   \
  FEMGPU_CASE_OF_LOOP(floor, __builtin_floor(a[i]))

#define FEMGPU_DECLARE(name) FEMGPU_VECTOR FEMGPU_OF_ONE(name)(FEMGPU_VECTOR);

extern "C" {
FEMGPU_FUNCTIONS_OF_ONE(FEMGPU_DECLARE)
FEMGPU_VECTOR FEMGPU_OF_TWO(pow)(FEMGPU_VECTOR, FEMGPU_VECTOR);
FEMGPU_VECTOR FEMGPU_OF_TWO(atan2)(FEMGPU_VECTOR, FEMGPU_VECTOR);
}

// NOLINTBEGIN(misc-definitions-in-headers): this header is the body of the file that includes it
namespace
{
constexpr int width = sizeof(FEMGPU_VECTOR) / sizeof(double);

FEMGPU_VECTOR load(const double *const from)
{
  FEMGPU_VECTOR vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}

void store(double *const to, const FEMGPU_VECTOR vector)
{
  __builtin_memcpy(to, &vector, sizeof vector);
}
} // namespace

bool femgpu::linalg::FEMGPU_RUN(const ExpressionOperation operation, const double *const a,
                                const double *const b, const double *const c, double *const result,
                                const int n)
{
  switch (operation) {
    FEMGPU_ALL_CASES
  default:
    return false;
  }
}
// NOLINTEND(misc-definitions-in-headers)

#endif
