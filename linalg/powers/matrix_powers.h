#ifndef femgpu_linalg_powers_matrix_powers_h
#define femgpu_linalg_powers_matrix_powers_h

#include "linalg/base/host_matrix.h"
#include "linalg/operators/matrix.h"
#include "linalg/preconditioners/preconditioner.h"
#include "linalg/steps/columns.h"
#include "linalg/steps/diagonal_view.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/**
 * One step of a Krylov basis: v_{k+1} = scale ((A M⁻¹) v_k - shift v_k + square v_{k-1}). The
 * Newton basis has a real shift or, for a complex pair a ± i b, two steps with shift a, the second
 * of which has the square b², so that both use real arithmetic.
 */
struct BasisStep
{
  double shift = 0.;
  double square = 0.;
  double scale = 1.;
};

/// How the vectors of a basis are computed.
enum class PowersKind
{
  automatic, ///< the form that is fastest in a short trial
  plain,     ///< a product for each vector
  blocked,   ///< several products per sweep, in cache blocks
  streamed   ///< several products per pass over blocks of rows from host memory
};

/// Returns the kind named @p word: "auto", "plain", "blocked" or "streamed".
/// @throws ParameterError for any other word
PowersKind powers_kind_of(const std::string &word);
std::string to_string(PowersKind kind);

/// Options of matrix powers. Zeros are replaced by automatic choices.
struct MatrixPowersOptions
{
  /// Value of `block`: the blocks are the parts of A's ordering, if the ordering has parts.
  static constexpr int parts_of_order = std::numeric_limits<int>::max();

  PowersKind kind = PowersKind::automatic;
  int steps = 10;           ///< usual number of steps in compute(), for which choices are optimised
  int depth = 0;            ///< maximum number of steps of a sweep or pass, at most max_depth
  int block = 0;            ///< rows of a cache block, or parts_of_order; 0: automatic
  std::size_t memory = 0;   ///< bytes on the executor for a streamed matrix; 0: half the free bytes
  std::size_t reserved = 0; ///< free bytes on the executor that the caller will need
};

/**
 * The matrix powers kernel: computes s vectors of a Krylov basis with few passes over the matrix.
 *
 * Use: communication-avoiding solvers, whose s products have no reductions in between. Cost: plain
 * reads the matrix s times. Blocked reads it once per sweep of `depth` steps: a team processes each
 * block of rows and keeps the vectors in its scratch memory; it also recomputes the rows within
 * distance depth - 1 of the block in the graph of A. This pays if blocks have few such neighbours,
 * as in banded matrices, or with an ordering by a partition. Streamed reads the matrix from host
 * memory once per `depth` steps, overlapped with products of previous rows: for matrices larger
 * than the device memory. All forms add the entries of a row in the same order. Without M, the
 * vectors of blocked and streamed are bitwise those of plain with a format that uses one thread per
 * row. The exception is streamed on a GPU if rows have 64 or more entries on average: eight lanes
 * then add the entries of a row. With M, the columns of A are scaled when blocks are made, which
 * changes the rounding.
 *
 * If rows are distributed, plain exchanges ghosts in each step. The other forms exchange all ghosts
 * within distance `depth` once per sweep or pass and recompute the rows of ghosts at smaller
 * distances (Yamazaki 2014, §IV.A). They add the entries of a row in global order, so that their
 * vectors are bitwise those of a run on a single rank. Plain with a depth above 1 does the same: it
 * is streamed with a matrix that stays in the executor's memory. All ranks make the same calls.
 *
 * `auto` measures the forms, including streamed if A is in host memory, and `blocked` measures
 * blocks unless options fix them. These choices may depend on the momentary speed of the machine;
 * all others depend on the matrix and the options alone. Set-up runs on the host and copies values:
 * after a change of A or M a new object must be made. Source: Demmel, Hoemmen, Mohiyuddin and
 * Yelick 2008 (as cited by Dehnavi 2012, chapter 6); Yamazaki et al. 2014, §4.
 */
class MatrixPowers
{
public:
  static constexpr int max_depth = 32;

  virtual ~MatrixPowers() = default;

  /// Returns the row space of the vectors. Columns passed to compute() need memory for the ghosts
  /// of this space.
  const RowSpacePtr &space() const
  {
    return vector_space;
  }

  /**
   * Computes V[1] to V[steps.size()] from V[0], which has n rows, in the executor's memory. The
   * work is queued in order with other work of the executor. Plain and blocked may be captured in a
   * graph, streamed may not.
   * @throws ParameterError if V has too few columns, or the first step has a square
   */
  void compute(const Columns &V, const std::vector<BasisStep> &steps) const;

  /// Returns a description for reports: "blocked: 4 steps per sweep, ..."
  const std::string &description() const
  {
    return properties.description;
  }
  void add_remark(const std::string &remark)
  {
    properties.description += remark;
  }
  /// Returns the options that reproduce this object for other values in the same pattern, without
  /// trials.
  const MatrixPowersOptions &choice() const
  {
    return chosen;
  }
  void choose(const MatrixPowersOptions &options)
  {
    chosen = options;
  }
  /// Returns the bytes that this object occupies in the executor's memory, in addition to A.
  std::size_t bytes() const
  {
    return properties.bytes;
  }
  /// Returns the bytes moved to compute @p n_steps vectors: between memory and chip or, if
  /// streamed, from host memory.
  std::size_t traffic(int n_steps) const;

protected:
  explicit MatrixPowers(RowSpacePtr space) : vector_space(std::move(space))
  {}

  struct Properties
  {
    std::string description;
    std::size_t bytes = 0;
    int depth = 1; ///< maximum number of steps of a sweep
    std::size_t bytes_of_sweep = 0, bytes_of_step = 0;
  };
  Properties properties; ///< set by the derived class
  virtual void run(const Columns &V, const std::vector<BasisStep> &steps) const = 0;

  /// Updates the ghosts that a sweep reads first: those of V[first] and, if the first step has a
  /// square, of V[first - 1].
  void update_ghost_values(StepRunner &runner, const Columns &V,
                           const std::vector<BasisStep> &steps, const int first) const
  {
    if (steps[static_cast<std::size_t>(first)].square != 0.)
      vector_space->update_ghost_values(runner, V[first - 1]);
    vector_space->update_ghost_values(runner, V[first]);
  }

private:
  RowSpacePtr vector_space;
  MatrixPowersOptions chosen;
};

/**
 * Makes the powers of A M⁻¹ on the executor of A. If M⁻¹ is not diagonal, the plain form is used,
 * whatever the options. @p A and @p M must outlive the result.
 * @throws SolverError if blocks of the requested size and depth do not fit into the scratch memory
 * of a team, or need more than three times the work
 * @throws DeviceError, with the required size, if memory is insufficient, or if `memory` does not
 * hold two blocks of the streamed matrix
 * @throws ParameterError for options out of range
 */
std::unique_ptr<MatrixPowers> make_matrix_powers(const Matrix &A, const Preconditioner::Action &M,
                                                 const MatrixPowersOptions &options);

/**
 * Makes streamed powers of a matrix in host memory that is not distributed. The executor never
 * stores the whole matrix.
 * @param A the matrix, which is copied
 * @param m the diagonal of M⁻¹, n elements, which is copied; nullptr: M = I
 */
std::unique_ptr<MatrixPowers> make_streamed_powers(const ExecutorPtr &executor, const HostCsr &A,
                                                   const double *m,
                                                   const MatrixPowersOptions &options);

/// Splits @p n_steps steps into sweeps of nearly equal length. Returns the numbers of steps of the
/// sweeps, which are at most @p depth.
std::vector<int> sweeps_of(int n_steps, int depth);
} // namespace femgpu::linalg

#endif
