#ifndef femgpu_linalg_sparse_derived_matrix_h
#define femgpu_linalg_sparse_derived_matrix_h

#include "linalg/sparse/row_pattern.h"

#include <memory>

namespace femgpu::linalg
{
/// A pattern whose entries are entries of another one, as those of its transpose or of a part.
struct DerivedPattern
{
  RowPattern pattern;
  Buffer<int> sources; ///< of each entry: its place in the other one
};

/// to[k] = from[sources[k]]
template <class T>
struct Gather
{
  const T *from;
  const int *sources;
  T *to;

  FEMGPU_HD
  void operator()(const int k) const
  {
    to[k] = from[sources[k]];
  }
};

/**
 * A matrix whose entries are entries of another one. The pattern is made once; new values of the
 * other matrix are one pass, which reads and writes 20 bytes an entry.
 */
template <class Backend>
class DerivedMatrix
{
public:
  /// Takes over the @p pattern, derived from that of @p A, for rows of @p n_columns columns.
  DerivedMatrix(const CsrMatrix &A, int n_columns, DerivedPattern pattern);

  const std::shared_ptr<const CsrMatrix> &matrix() const
  {
    return result;
  }

  /// Takes over the values of @p A, whose pattern is the one that this was made of.
  /// @throws SolverError if @p A has not as many entries
  void update(const CsrMatrix &A);

private:
  std::shared_ptr<CsrMatrix> own;
  std::shared_ptr<const CsrMatrix> result; // the same, as others see it
  Buffer<int> sources;
  std::size_t n_entries; // of the other matrix
};
} // namespace femgpu::linalg

#endif
