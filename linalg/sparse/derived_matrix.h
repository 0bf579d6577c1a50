#ifndef femgpu_linalg_sparse_derived_matrix_h
#define femgpu_linalg_sparse_derived_matrix_h

#include "linalg/sparse/row_pattern.h"

#include <memory>

/**
 * @file
 * Matrices whose entries are entries of another one: its transpose, triangles and other parts.
 */
namespace femgpu::linalg
{
/// A pattern whose entries are entries of another one, as those of its transpose or of a part.
struct DerivedPattern
{
  RowPattern pattern;
  Buffer<int> sources; ///< of each entry: its place in the other one; -1: it is not there
};

/// to[k] = from[sources[k]], or 0 where there is none
template <class T>
struct Gather
{
  const T *from;
  const int *sources;
  T *to;

  FEMGPU_HD
  void operator()(const int k) const
  {
    to[k] = sources[k] < 0 ? T(0) : from[sources[k]];
  }
};

/**
 * A matrix whose entries are entries of another one, or 0. The pattern is made once; new values of
 * the other matrix are one pass, which reads and writes 20 bytes an entry.
 */
template <class Backend>
class DerivedMatrix
{
public:
  /// Takes over the @p pattern, derived from that of @p A, for rows of @p n_columns columns.
  DerivedMatrix(const CsrMatrix &A, int n_columns, DerivedPattern pattern);
  /// The same for rows and columns of parts.
  DerivedMatrix(const CsrMatrix &A, const RowSpacePtr &range, const RowSpacePtr &domain,
                DerivedPattern pattern);

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return result;
  }

  CsrMatrix &mutable_matrix()
  {
    return *result;
  }

  /// Takes over the values of @p A, whose pattern is the one that this was made of.
  /// @throws SolverError if @p A has not as many entries
  void update(const CsrMatrix &A);

private:
  std::shared_ptr<CsrMatrix> result;
  Buffer<int> sources;
  std::size_t n_entries; // of the other matrix
};

/**
 * The pattern of Aᵀ, columns ascending, also where those of A do not: the entries of A sorted by
 * their columns, which keeps the order of rows. Cost: a radix sort of pairs of ints, and four more
 * passes. @throws DeviceError without memory, of which it takes 20 bytes an entry besides the
 * result
 */
template <class Backend>
DerivedPattern transposed_pattern(const PatternRef &A);

/// The row of each entry.
template <class Backend>
Buffer<int> row_numbers(const PatternRef &A);

/// Aᵀ, which can take over new values of A.
template <class Backend>
DerivedMatrix<Backend> transposed(const CsrMatrix &A);

enum class TrianglePart
{
  lower, ///< with the diagonal
  strictly_lower,
  upper,
  strictly_upper
};

/// The pattern of a triangle of A. @param rows all in another order; nullptr: as they are
template <class Backend>
DerivedPattern triangle_pattern(const PatternRef &A, TrianglePart part, const int *rows = nullptr);

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
} // namespace femgpu::linalg

#endif
