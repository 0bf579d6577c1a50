#ifndef femgpu_linalg_sparse_subset_h
#define femgpu_linalg_sparse_subset_h

#include "linalg/sparse/derived_matrix.h"

namespace femgpu::linalg
{
enum class TrianglePart
{
  lower, ///< with the diagonal
  strictly_lower,
  upper,
  strictly_upper
};

/// The pattern of a triangle of A.
template <class Backend>
DerivedPattern triangle_pattern(const PatternRef &A, TrianglePart part);

/// A triangle of A, of the same size, which can take over new values of A.
template <class Backend>
DerivedMatrix<Backend> triangle(const CsrMatrix &A, TrianglePart part);

/**
 * The entries A(rows, columns), which can take over new values of A: entry (r, c) is that of row
 * rows[r] and column columns[c].
 * @param rows of A, in any order, perhaps repeated
 * @param columns of A, ascending; both in the memory of the executor of A
 * @throws SolverError naming the place of a row that A does not have, or of a column that it does
 *         not have or that is not greater than the one before, and beyond most_indices entries
 */
template <class Backend>
DerivedMatrix<Backend> submatrix(const CsrMatrix &A, const Buffer<int> &rows,
                                 const Buffer<int> &columns);

/// a_ii for all i that are a row and a column of A, 0 where there is no such entry.
template <class Backend>
Buffer<double> diagonal(const CsrMatrix &A);
} // namespace femgpu::linalg

#endif
