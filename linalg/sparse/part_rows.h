#ifndef femgpu_linalg_sparse_part_rows_h
#define femgpu_linalg_sparse_part_rows_h

#include "linalg/sparse/product.h"
#include "linalg/sparse/sum.h"

#include <memory>
#include <vector>

/**
 * @file
 * Rows of matrices that go from part to part, as products of matrices in parts need them. Patterns
 * go once; new values are another exchange. All of it is done where the matrices are, but for lists
 * of rows and ghosts along the border.
 */
namespace femgpu::linalg
{
/// Rows that other parts have sent.
template <class Backend>
class ReceivedRows
{
public:
  /**
   * Is called by all parts. @param n_rows that go to each neighbour and come from it
   * @param sent rows for one neighbour after the other, whose columns are those of @p domain
   */
  ReceivedRows(const ExchangeCounts &n_rows, const CsrMatrix &sent, const RowSpacePtr &domain);

  /// Those of one neighbour after the other. Its domain is the one given with all ghosts that these
  /// rows have.
  const CsrMatrix &matrix() const
  {
    return *result;
  }

  /// Takes over the values of @p sent, whose pattern is the one that this was made of.
  void update(const CsrMatrix &sent);

private:
  const Communicator &parts;
  ExchangeCounts n_entries;
  Buffer<int> order; ///< of the entries received, in which columns ascend
  std::shared_ptr<CsrMatrix> result;
};

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
  void set_values(const CsrMatrix &M);

  DerivedMatrix<Backend> sent;
  ReceivedRows<Backend> received;
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
  void set_own_values(const CsrMatrix &M);

  DerivedMatrix<Backend> sent;
  ReceivedRows<Backend> received;
  DerivedMatrix<Backend> owners; ///< a row of it says which of those received are added to that row
  Product<Backend> of_others;    ///< what is added
  std::shared_ptr<CsrMatrix> own;
  std::unique_ptr<Sum<Backend>> sum;
};
} // namespace femgpu::linalg

#endif
