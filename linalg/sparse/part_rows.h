#ifndef femgpu_linalg_sparse_part_rows_h
#define femgpu_linalg_sparse_part_rows_h

#include "linalg/operators/row_exchange.h"
#include "linalg/sparse/derived_matrix.h"
#include "linalg/sparse/sum.h"

#include <memory>

/**
 * @file
 * Rows of matrices that go from part to part, as products of matrices in parts need them. Patterns
 * go once; new values are another exchange. What is sent passes through the host; it is of the rows
 * along the border of a part.
 */
namespace femgpu::linalg
{
/// The own rows of a part's matrix, and behind them those of its ghosts, which others own.
template <class Backend>
class GhostRows
{
public:
  /// Is called by all parts. @param rows the own rows of @p M, and the ghosts that are wanted
  GhostRows(const RowSpace &rows, const CsrMatrix &M);

  /// Its domain has the ghosts that the rows of others have, too.
  const CsrMatrix &matrix() const
  {
    return *result;
  }

  /// Takes over the values of @p M, whose pattern is the one that this was made of.
  void update(const CsrMatrix &M);

private:
  void store_pattern(const CsrMatrix &M, const std::vector<double> &columns);
  void store_values(const CsrMatrix &M);

  DerivedMatrix<Backend> sent;
  RowExchange exchange;
  std::vector<int> order; ///< of the entries received, in which columns ascend
  std::shared_ptr<CsrMatrix> result;
};

/// A part's matrix that has rows for ghosts, too: what stands there is added to the rows of their
/// owners.
template <class Backend>
class CollectedRows
{
public:
  /// Is called by all parts. @param rows those of @p M: own ones, and then ghosts
  CollectedRows(const RowSpacePtr &rows, const CsrMatrix &M);

  /// With the own rows alone.
  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return sum->matrix();
  }

  /// Takes over the values of @p M, whose pattern is the one that this was made of.
  void update(const CsrMatrix &M);

private:
  void make_pattern(const RowSpacePtr &rows, const CsrMatrix &M,
                    const std::vector<double> &columns);
  void set_values(const CsrMatrix &M);

  std::size_t n_own;  ///< entries of own rows
  std::size_t n_sent; ///< those behind
  std::unique_ptr<RowExchange> exchange;
  std::shared_ptr<CsrMatrix> own, received;
  std::vector<int> places; ///< of the entries received, in `received`
  std::unique_ptr<Sum<Backend>> sum;
};
} // namespace femgpu::linalg

#endif
