#ifndef femgpu_expressions_vector_instruction_h
#define femgpu_expressions_vector_instruction_h

#include "expressions/expression_operation.h"

namespace femgpu::linalg
{
/// The number of points in a call of a VectorInstruction is a multiple of this constant, which is a
/// multiple of the number of doubles in every kind of vector.
constexpr int vector_width = 8;

/**
 * Computes result_i = operation(a_i, b_i, c_i) for 0 <= i < n, a multiple of vector_width, with
 * vector instructions of a CPU.
 * @return false, without any effect, for an operation that has no vectorised function and is
 * evaluated point by point
 */
using VectorInstruction = bool (*)(ExpressionOperation operation, const double *a, const double *b,
                                   const double *c, double *result, int n);

/// Returns the code for the widest vectors that this machine and this build support, after skipping
/// the @p n_wider widest kinds; nullptr if there is none.
VectorInstruction vector_instruction(int n_wider = 0);

// The functions below are defined only if the C library has vector functions.
bool run_on_avx2(ExpressionOperation operation, const double *a, const double *b, const double *c,
                 double *result, int n);
bool run_on_avx512(ExpressionOperation operation, const double *a, const double *b, const double *c,
                   double *result, int n);
} // namespace femgpu::linalg

#endif
