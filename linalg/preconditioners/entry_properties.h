#ifndef femgpu_linalg_preconditioners_entry_properties_h
#define femgpu_linalg_preconditioners_entry_properties_h

#include "linalg/operators/matrix.h"

/**
 * @file
 * Properties of a matrix's entries that decide the choice of a preconditioner.
 */
namespace femgpu::linalg
{
/// Returns the ratio of the largest to the smallest |a_ii|, each rounded down to a power of two.
/// Ignores rows with a_ii = 0 or without off-diagonal entries; returns 1 if no rows are left.
/// Collective over all ranks.
template <class Backend>
double diagonal_contrast(const Matrix &A);

/// Returns the share of the off-diagonal nonzeros that have the sign of the diagonal of their row:
/// 0 for an M-matrix, about 0.4 for stiffness matrices of elasticity, and 0 if there are no
/// off-diagonal nonzeros. Collective over all ranks.
template <class Backend>
double same_sign_fraction(const Matrix &A);
} // namespace femgpu::linalg

#endif
