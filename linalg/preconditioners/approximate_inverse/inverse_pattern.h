#ifndef femgpu_linalg_preconditioners_approximate_inverse_inverse_pattern_h
#define femgpu_linalg_preconditioners_approximate_inverse_inverse_pattern_h

#include "linalg/sparse/row_pattern.h"

/**
 * @file
 * Sparsity patterns of approximate inverses, from the large entries of a matrix.
 */
namespace femgpu::linalg
{
/**
 * Returns the pattern of the entries of each row with |a| > (1 − τ) max |a|, and of the diagonal
 * (Dehnavi 2012, chapter 5; there for columns). τ = 1: all nonzeros; τ = 0: the diagonal alone.
 * @param longest maximum number of entries of a row, including the diagonal: the largest entries
 * are kept, and of entries of equal size all or none; 0: unlimited
 */
template <class Backend>
RowPattern large_entries(const CsrMatrix &A, double tau, int longest = 0);

/// Returns the pattern of S^power, where S has the pattern that large_entries() returns.
template <class Backend>
RowPattern inverse_pattern(const CsrMatrix &A, double tau, int power, int longest = 0);
} // namespace femgpu::linalg

#endif
