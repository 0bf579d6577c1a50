#ifndef femgpu_linalg_sparse_row_exchange_h
#define femgpu_linalg_sparse_row_exchange_h

#include "linalg/sparse/product.h"
#include "linalg/sparse/sum.h"

#include <memory>
#include <vector>

/**
 * @file
 * Exchange of matrix rows between ranks, for products of distributed matrices. Patterns are
 * exchanged once; new values need another exchange. The rows are processed in the executor's
 * memory; lists of interface rows and of ghosts are on the host.
 */
namespace femgpu::linalg
{
/// The operands of the matrices of a domain: vectors, which exchange the values of the domain's
/// ghosts, or only other matrices.
enum class Multiplies
{
  vectors,
  matrices
};

/// Rows received from other ranks.
template <class Backend>
class ReceivedRows
{
public:
  /**
   * Sends rows of @p sent to the neighbours and receives rows from them. Collective.
   * @param n_rows numbers of rows sent to and received from each neighbour
   * @param sent the rows to send, for one neighbour after the other, with columns in @p domain
   * @param use what matrices with the domain of the result multiply
   */
  ReceivedRows(const ExchangeCounts &n_rows, const CsrMatrix &sent, const RowSpacePtr &domain,
               Multiplies use);

  /// Returns the received rows, one neighbour after the other. Their domain is the domain given to
  /// the constructor, extended by all ghosts that these rows need.
  const CsrMatrix &matrix() const
  {
    return *result;
  }

  /// Updates the values from those of @p sent, which must have the original pattern.
  void update(const CsrMatrix &sent);

private:
  const Communicator &comm;
  ExchangeCounts n_entries;
  Buffer<int> order; ///< positions of received entries, sorted by column within rows
  std::shared_ptr<CsrMatrix> result;
};

/// The owned rows of a distributed matrix, followed by the rows of its ghosts, which other ranks
/// own.
template <class Backend>
class GhostRows
{
public:
  /// Collective.
  /// @param rows the owned rows of @p M, and the ghosts whose rows are appended
  /// @param use what matrices with the domain of the result multiply
  GhostRows(const RowSpace &rows, const CsrMatrix &M, Multiplies use);

  /// Returns the rows. Their domain also has the ghosts that the rows of other ranks need.
  const CsrMatrix &matrix() const
  {
    return *result;
  }

  /// Updates the values from those of @p M, which must have the original pattern.
  void update(const CsrMatrix &M);

private:
  void set_values(const CsrMatrix &M);

  DerivedMatrix<Backend> sent;
  ReceivedRows<Backend> received;
  std::shared_ptr<CsrMatrix> result;
};

/// Adds the ghost rows of a distributed matrix to the rows of their owners.
template <class Backend>
class AccumulatedRows
{
public:
  /// Collective.
  /// @param rows the rows of @p M: owned rows, followed by ghosts
  AccumulatedRows(const RowSpacePtr &rows, const CsrMatrix &M);

  /// The result, which has owned rows only.
  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return sum->matrix();
  }

  /// Updates the values from those of @p M, which must have the original pattern.
  void update(const CsrMatrix &M);

private:
  void set_owned_values(const CsrMatrix &M);

  DerivedMatrix<Backend> sent;
  ReceivedRows<Backend> received;
  DerivedMatrix<Backend> gather_matrix; ///< row i selects the received rows that are added to row i
  Product<Backend> received_sums;       ///< the sums of received rows
  std::shared_ptr<CsrMatrix> owned;
  std::unique_ptr<Sum<Backend>> sum;
};
} // namespace femgpu::linalg

#endif
