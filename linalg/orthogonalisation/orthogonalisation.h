#ifndef femgpu_linalg_orthogonalisation_orthogonalisation_h
#define femgpu_linalg_orthogonalisation_orthogonalisation_h

#include "linalg/execution/backends.h"
#include "linalg/steps/columns.h"

#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * Orthogonalisation of blocks of vectors, for Krylov methods that compute several vectors at a
 * time: of a block against an existing basis, and within the block. Columns and small matrices are
 * in the executor's memory. Columns begin at multiples of 16 bytes, for which the stride must be
 * even; small matrices are stored by columns: C[x + y count(Q)]. Sums have a fixed order: results
 * are bitwise reproducible, and on the host independent of the number of threads.
 *
 * Rows may be distributed: then all ranks make the same calls, each with its own rows, and get the
 * same small matrices and reports. A product QᵀV needs one reduction over all ranks; the tree of
 * caqr needs one exchange of triangular factors (Yamazaki 2014, figure 11).
 */
namespace femgpu::linalg
{
class Communicator;

/// Orthogonalises a block against orthonormal columns.
class BlockOrthogonalisation
{
public:
  virtual ~BlockOrthogonalisation() = default;

  /**
   * Computes C = QᵀV and V −= Q C; with two passes, C is the sum of the products QᵀV of both.
   * @param n number of rows, at least 1 unless rows are distributed
   * @param C receives count(Q) x count(V) numbers
   * @throws ParameterError for an odd stride
   * @throws DeviceError if memory is insufficient
   */
  virtual void orthogonalise(int n, const Columns &Q, const Columns &V, double *C) = 0;
};

/// The report of a factorisation V = Q R.
struct TsqrReport
{
  /// Whether Q and R were computed: V and the squares of its entries were finite, and each
  /// factorisation succeeded or was replaced by a permitted alternative. If not, V must be
  /// recomputed.
  bool is_done = false;
  bool is_finite = true; ///< V and the squares of its entries were finite
  int n_columns = 0;     ///< number p of columns
  int rank = 0; ///< number of columns that are independent of previous ones, up to rounding
  int first_dependent = 0; ///< first column that depends on previous ones; p if none does
  std::string variant;     ///< variant that computed Q; the safest one if passes differ
  int failed_column = -1;  ///< column where Cholesky's factorisation first failed; -1: none
  int n_floored = 0; ///< largest number of eigenvalues that svqr raised to their floor in a pass
  std::vector<double> R; ///< the factor on the host: R_xy is R[x + y p]

  /// Returns whether Q is orthonormal, as far as the variant permits.
  bool ok() const
  {
    return is_done && rank == n_columns;
  }
};

/**
 * QR factorisation of a tall block of columns ("tall-skinny QR"), in place. One object factorises
 * any number of blocks, and keeps memory for the largest.
 */
class Tsqr
{
public:
  /// Maximum number of columns of a block.
  static constexpr int max_columns = 32;

  virtual ~Tsqr() = default;

  /**
   * Computes V = Q R: Q overwrites V, and R is upper triangular with a non-negative diagonal. If a
   * column of V depends on previous ones, mgs and cgs set this column of Q to zero; the other
   * variants set it to a column that is orthogonal to all others, unless n is too small. V = Q R
   * still holds.
   * @param n number of rows, at least 1 unless rows are distributed
   * @param R receives count(V) x count(V) numbers, zero below the diagonal
   * @throws ParameterError for more than max_columns columns, or an odd stride
   * @throws DeviceError if memory is insufficient
   */
  virtual TsqrReport factorise(int n, const Columns &V, double *R) = 0;

  /// Returns ‖I − QᵀQ‖_F. Reads Q once, and needs memory for count(Q)² sums per chunk of rows.
  virtual double orthogonality_error(int n, const Columns &Q) const = 0;

  /// Returns ‖V − QR‖_F / ‖V‖_F for any V and its factors Q and R; ‖QR‖_F if V is zero. Needs
  /// memory for a copy of V.
  virtual double factorisation_error(int n, const Columns &V, const Columns &Q,
                                     const double *R) const = 0;
};

extern const BackendRegistry<NoTraits, Tsqr, const ExecutorPtr &, const Communicator *>
    tsqr_methods;
extern const BackendRegistry<NoTraits, BlockOrthogonalisation, const ExecutorPtr &,
                             const Communicator *>
    block_methods;

/**
 * Makes the method that @p text names, with its options: "cholqr passes=2". passes=2 orthogonalises
 * the result of the first pass again. cholqr and svqr accept safer=yes|no: if Cholesky's
 * factorisation fails, svqr repeats the pass; if svqr has eigenvalues at their floor, so that Q is
 * not orthonormal, caqr repeats the pass, or a third pass is added.
 * @param communicator connects the ranks if rows are distributed, and must outlive the method;
 * nullptr: rows are not distributed
 * @throws ParameterError for unknown names and options; the message lists the valid ones
 */
inline std::unique_ptr<Tsqr> make_tsqr(const std::string &text, const ExecutorPtr &executor,
                                       const Communicator *const communicator = nullptr)
{
  return tsqr_methods.make(text, executor->backend(), executor, communicator);
}

/// Makes the method that @p text names: "mgs" or "cgs", with passes=1|2.
inline std::unique_ptr<BlockOrthogonalisation>
make_block_orthogonalisation(const std::string &text, const ExecutorPtr &executor,
                             const Communicator *const communicator = nullptr)
{
  return block_methods.make(text, executor->backend(), executor, communicator);
}
} // namespace femgpu::linalg

#endif
