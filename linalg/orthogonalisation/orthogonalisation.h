#ifndef femgpu_linalg_orthogonalisation_orthogonalisation_h
#define femgpu_linalg_orthogonalisation_orthogonalisation_h

#include "linalg/execution/backends.h"
#include "linalg/steps/columns.h"

#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * Orthogonalisation of blocks of vectors, as Krylov methods that make several vectors at one time
 * need it: of a block against the basis that is there, and within the block. All columns are in the
 * memory of the executor, and begin at multiples of 16 bytes (with an even stride); small matrices
 * are there too, by columns: C[x + y count(Q)]. Sums have a fixed order: results repeat bit for
 * bit, and on the host they do not depend on the number of threads.
 *
 * Rows may be a part of those of distributed columns: then all parts make the same calls, each with
 * its own rows, and get the same small matrices and reports. Sums of a product, or triangles of a
 * tree, go over the parts once (Yamazaki 2014, figure 11).
 */
namespace femgpu::linalg
{
class Communicator;

/// Of a block against columns that are orthonormal already.
class BlockOrthogonalisation
{
public:
  virtual ~BlockOrthogonalisation() = default;

  /**
   * V −= Q C with C = QᵀV; with two passes C is the sum of what both have found.
   * @param n rows, at least 1 where all are here
   * @param C count(Q) x count(V)
   * @throws ParameterError for an odd stride; DeviceError without memory
   */
  virtual void orthogonalise(int n, const Columns &Q, const Columns &V, double *C) = 0;
};

/// What became of V = Q R.
struct TsqrReport
{
  /// There is Q, and R: neither did V have entries that are not finite, or so large that their
  /// squares are not, nor did a factorisation fail for which nothing else was allowed. If not, V is
  /// to be made anew.
  bool is_done = false;
  bool is_finite = true;   ///< V was, with its squares
  int n_columns = 0;       ///< p
  int rank = 0;            ///< columns that do not depend on those before, to rounding errors
  int first_dependent = 0; ///< the first column that does; p if there is none
  std::string variant;     ///< that made Q; the safest of them, where passes took different ones
  int failed_column = -1;  ///< at which Cholesky's factorisation failed first; -1 if it did not
  int n_floored = 0;       ///< eigenvalues at their floor, where svqr was used last
  std::vector<double> R;   ///< on the host, R[x + y p]

  /// Q is orthonormal as far as the variant can make it.
  bool ok() const
  {
    return is_done && rank == n_columns;
  }
};

/**
 * QR factorisation of a tall block of columns ("tall-skinny QR"), in place. One object serves any
 * number of blocks, and keeps memory for the largest.
 */
class Tsqr
{
public:
  /// Columns that a block can have.
  static constexpr int most_columns = 32;

  virtual ~Tsqr() = default;

  /**
   * V = Q R: Q takes the place of V, and R is upper triangular with a diagonal that is not
   * negative. Of a column that depends on those before mgs and cgs leave zeros in Q, and the others
   * some column that is orthogonal to the rest, as far as n rows have one; V = Q R holds for it,
   * too.
   * @param n rows, at least 1 where all are here
   * @param R count(V) x count(V), zero below the diagonal
   * @throws ParameterError with more than most_columns or an odd stride; DeviceError without memory
   */
  virtual TsqrReport factorise(int n, const Columns &V, double *R) = 0;

  /// ‖I − QᵀQ‖_F. Reads Q once, and takes memory for count(Q)² sums of chunks.
  virtual double orthogonality_error(int n, const Columns &Q) const = 0;

  /// ‖V − QR‖_F / ‖V‖_F, of any V and the Q and R of its factorisation; ‖QR‖_F where V is zero.
  /// Takes memory for a copy of V.
  virtual double factorisation_error(int n, const Columns &V, const Columns &Q,
                                     const double *R) const = 0;
};

extern const BackendRegistry<NoTraits, Tsqr, const ExecutorPtr &, const Communicator *>
    tsqr_methods;
extern const BackendRegistry<NoTraits, BlockOrthogonalisation, const ExecutorPtr &,
                             const Communicator *>
    block_methods;

/**
 * The method that a text names with its options: "cholqr passes=2". passes=1|2 orthogonalises again
 * what the first pass has left. cholqr and svqr take safer=yes|no: where Cholesky's factorisation
 * fails, the pass is repeated by svqr; where svqr has eigenvalues at their floor, so that Q is not
 * orthonormal, it is repeated by caqr, or is the first of three passes instead of two.
 * @param communicator of the parts of the rows, which outlives it; nullptr: all rows are here
 * @throws ParameterError naming the valid ones for unknown names and options
 */
inline std::unique_ptr<Tsqr> make_tsqr(const std::string &text, const ExecutorPtr &executor,
                                       const Communicator *const communicator = nullptr)
{
  return tsqr_methods.make(text, executor->backend(), executor, communicator);
}

/// The same: "mgs" or "cgs", with passes=1|2.
inline std::unique_ptr<BlockOrthogonalisation>
make_block_orthogonalisation(const std::string &text, const ExecutorPtr &executor,
                             const Communicator *const communicator = nullptr)
{
  return block_methods.make(text, executor->backend(), executor, communicator);
}
} // namespace femgpu::linalg

#endif
