#ifndef femgpu_linalg_sparse_overlapping_rows_h
#define femgpu_linalg_sparse_overlapping_rows_h

#include "linalg/sparse/row_exchange.h"

#include <memory>
#include <optional>
#include <vector>

namespace femgpu::linalg
{
/**
 * The owned rows of a rank and the rows of other ranks within a given distance in the graph of A,
 * as one square matrix. Rows and columns are in global order; columns farther away are dropped.
 * Computations that depend only on rows within this distance give the same results as with all
 * rows. The distance is the number of entries a_ij on the shortest path from an owned row; if a_ij
 * exists without a_ji, rows that are reached only in the other direction are left out. With one
 * rank the matrix is A itself. With several ranks, set-up takes the memory of two copies of A, and
 * the result the memory of one.
 */
template <class Backend>
class OverlappingRows
{
public:
  /**
   * Collective.
   * @param A must outlive this object
   * @param layers largest distance in the graph of A
   */
  OverlappingRows(const CsrMatrix &A, int layers);

  const CsrMatrix &matrix() const
  {
    return square ? *square->matrix() : A;
  }
  /// The position of the first owned row in matrix().
  int first() const
  {
    return n_before;
  }
  /// The global numbers, ascending, of the rows before and after the owned ones; empty if there is
  /// one rank.
  const std::vector<long long> &overlap_rows() const
  {
    return overlap;
  }

  /// Returns the owned rows of @p M, which has the size of matrix(), as an operator between
  /// distributed vectors. The domain of the result is the domain of A if that has all ghosts that M
  /// needs, else a new one. Collective.
  std::shared_ptr<const CsrMatrix> owned_rows(std::shared_ptr<const CsrMatrix> M) const;

private:
  RowSpacePtr domain_of(const CsrMatrix &M) const;

  const CsrMatrix &A;
  std::vector<long long> overlap;
  int n_before = 0;                             ///< number of overlap rows before the owned rows
  std::optional<DerivedMatrix<Backend>> square; ///< the matrix; empty on one rank
};
} // namespace femgpu::linalg

#endif
