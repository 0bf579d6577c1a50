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
/// Rows with a_ii = 0 or without off-diagonal entries do not count; 1 if no row does. Collective
/// over all ranks.
template <class Backend>
double diagonal_contrast(const Matrix &A);

/// Returns the share of the off-diagonal nonzeros that have the sign of the diagonal of their row:
/// none in an M-matrix, about 0.4 in stiffness matrices of elasticity; 0 if there are no such
/// nonzeros. Collective over all ranks.
template <class Backend>
double same_sign_fraction(const Matrix &A);
} // namespace femgpu::linalg

#endif
