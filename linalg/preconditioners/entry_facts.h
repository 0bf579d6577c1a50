#ifndef femgpu_linalg_preconditioners_entry_facts_h
#define femgpu_linalg_preconditioners_entry_facts_h

#include "linalg/operators/matrix.h"

/**
 * @file
 * Facts of a matrix's entries by which a preconditioner is chosen.
 */
namespace femgpu::linalg
{
/// The largest |a_ii| over the smallest one, each rounded down to a power of two. Rows with a_ii =
/// 0 or without other entries do not count; 1 if no row does. Is called by all parts.
template <class Backend>
double diagonal_contrast(const Matrix &A);

/// The share of the off-diagonal nonzeros that have the sign of the diagonal of their row: none in
/// an M-matrix, some 0.4 in stiffness matrices of elasticity; 0 if there are none. Is called by all
/// parts.
template <class Backend>
double share_with_sign_of_diagonal(const Matrix &A);
} // namespace femgpu::linalg

#endif
