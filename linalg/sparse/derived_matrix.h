#ifndef femgpu_linalg_sparse_derived_matrix_h
#define femgpu_linalg_sparse_derived_matrix_h

#include "linalg/sparse/row_pattern.h"

#include <memory>

/**
 * @file
 * Matrices that are made from the entries of another one: transposes, triangles and submatrices.
 */
namespace femgpu::linalg
{
/// A pattern derived from another one, such as the pattern of its transpose or of a submatrix.
struct DerivedPattern
{
  RowPattern pattern;
  Buffer<int> sources; ///< position of each entry in the other pattern; -1: none
};

/// Computes to[k] = from[sources[k]], or 0 if sources[k] < 0.
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
 * A matrix whose entries are copies of another matrix's entries, or 0. The pattern is computed
 * once. Updating the values is one pass, which reads and writes 20 bytes per entry.
 */
template <class Backend>
class DerivedMatrix
{
public:
  /// Makes a matrix with @p pattern, which must be derived from the pattern of @p A.
  DerivedMatrix(const CsrMatrix &A, int n_columns, DerivedPattern pattern);
  /// Makes a distributed matrix on @p range and @p domain with @p pattern, which must be derived
  /// from the pattern of @p A.
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

  /// Updates the values from those of @p A, which must have the original pattern.
  /// @throws SolverError if @p A has a different number of entries
  void update(const CsrMatrix &A);

private:
  std::shared_ptr<CsrMatrix> result;
  Buffer<int> sources;
  std::size_t n_entries; // entries of the original matrix
};

/**
 * Returns the pattern of Aᵀ. Its columns are in ascending order even if those of A are not: the
 * entries of A are sorted by column with a stable sort. Cost: a radix sort of pairs of ints, and
 * four more passes; 20 bytes of memory per entry besides the result.
 * @throws DeviceError if memory is exhausted
 */
template <class Backend>
DerivedPattern transposed_pattern(const PatternRef &A);

/// Returns, for each entry of @p A, the number of its row.
template <class Backend>
Buffer<int> row_numbers(const PatternRef &A);

/// Returns Aᵀ, whose values can be updated from A.
template <class Backend>
DerivedMatrix<Backend> transposed(const CsrMatrix &A);

enum class TrianglePart
{
  lower, ///< including the diagonal
  strictly_lower,
  upper, ///< including the diagonal
  strictly_upper
};

/// Returns the pattern of a triangle of A.
/// @param rows a permutation: row r of the result is row rows[r] of A; nullptr: the identity
template <class Backend>
DerivedPattern triangle_pattern(const PatternRef &A, TrianglePart part, const int *rows = nullptr);

/// Returns a triangle of A, of the same size, whose values can be updated from A.
template <class Backend>
DerivedMatrix<Backend> triangle(const CsrMatrix &A, TrianglePart part);

/**
 * Returns the submatrix A(rows, columns), whose values can be updated from A: entry (r, c) is A's
 * entry in row rows[r] and column columns[c].
 * @param rows rows of A, in any order, possibly repeated, in the memory of the executor of A
 * @param columns columns of A, in ascending order, in the same memory
 * @throws SolverError if a row or column is out of range or columns do not ascend (the message
 * states the position in the list), or if the result has more than max_indices entries
 */
template <class Backend>
DerivedMatrix<Backend> submatrix(const CsrMatrix &A, const Buffer<int> &rows,
                                 const Buffer<int> &columns);
} // namespace femgpu::linalg

#endif
