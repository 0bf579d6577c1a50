#ifndef femgpu_linalg_sparse_overlapping_rows_h
#define femgpu_linalg_sparse_overlapping_rows_h

#include "linalg/sparse/part_rows.h"

#include <memory>
#include <optional>
#include <vector>

namespace femgpu::linalg
{
/**
 * The own rows of a part, and those of others within some connections of them, as one square
 * matrix: rows and columns in the order of all rows, without columns further away. What is computed
 * from rows so near is the same as with all rows. Near is what a row of A is connected with, so
 * where a_ij is there without a_ji a part does not see all. Of one part it is the matrix itself; of
 * several it takes the memory of two copies of A to be made, and that of one to be kept.
 */
template <class Backend>
class OverlappingRows
{
public:
  /// Is called by all parts. @param layers connections. @p A outlives it
  OverlappingRows(const CsrMatrix &A, int layers);

  const CsrMatrix &matrix() const
  {
    return square ? *square->matrix() : A;
  }
  /// Where own rows begin in matrix().
  int first() const
  {
    return n_before;
  }
  /// The rows before and behind own ones, by ascending global numbers; none where there is one
  /// part.
  const std::vector<long long> &other_rows() const
  {
    return others;
  }

  /// Is called by all parts. The own rows of @p M, of the size of matrix(), as an operator between
  /// vectors of the parts: its domain is that of A if this has the ghosts that are needed.
  std::shared_ptr<const CsrMatrix> own_rows(std::shared_ptr<const CsrMatrix> M) const;

private:
  RowSpacePtr domain_of(const CsrMatrix &M) const;

  const CsrMatrix &A;
  std::vector<long long> others;
  int n_before = 0;                             ///< of them those before own rows
  std::optional<DerivedMatrix<Backend>> square; ///< of several parts
};
} // namespace femgpu::linalg

#endif
