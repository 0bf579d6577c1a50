#ifndef femgpu_expressions_vector_instruction_h
#define femgpu_expressions_vector_instruction_h

#include "expressions/expression_operation.h"

namespace femgpu::linalg
{
/// Points that are a multiple of the width of every vector.
constexpr int vector_width = 8;

/**
 * result_i = operation(a_i, b_i, c_i) for 0 <= i < n, a multiple of vector_width, by vectors of a
 * CPU.
 * @return false, with nothing done, for an operation that is better done one by one
 */
using VectorInstruction = bool (*)(ExpressionOperation operation, const double *a, const double *b,
                                   const double *c, double *result, int n);

/// Of the vectors of this machine for which there is code those that come, from the widest down,
/// behind @p n_wider others; nullptr if there are none.
VectorInstruction vector_instruction(int n_wider = 0);

// In programs whose C library has such functions.
bool run_on_avx2(ExpressionOperation operation, const double *a, const double *b, const double *c,
                 double *result, int n);
bool run_on_avx512(ExpressionOperation operation, const double *a, const double *b, const double *c,
                   double *result, int n);
} // namespace femgpu::linalg

#endif
