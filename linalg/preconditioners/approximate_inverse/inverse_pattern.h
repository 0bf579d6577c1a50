#ifndef femgpu_linalg_preconditioners_approximate_inverse_inverse_pattern_h
#define femgpu_linalg_preconditioners_approximate_inverse_inverse_pattern_h

#include "linalg/sparse/row_pattern.h"

/**
 * @file
 * Patterns of approximate inverses, from the entries of a matrix that count.
 */
namespace femgpu::linalg
{
/**
 * The entries of each row with |a| > (1 − τ) max |a|, and the diagonal (Dehnavi 2012, chapter 5;
 * there for columns). τ = 1: all that are not zero; τ = 0: the diagonal alone.
 */
/// @param longest of a row with more entries at most so many are taken, the largest, with the
/// diagonal; of entries of the same size all or none. 0: no bound
template <class Backend>
RowPattern large_entries(const CsrMatrix &A, double tau, int longest = 0);

/// The pattern of S^power, where S are the large entries of A.
template <class Backend>
RowPattern inverse_pattern(const CsrMatrix &A, double tau, int power, int longest = 0);
} // namespace femgpu::linalg

#endif
