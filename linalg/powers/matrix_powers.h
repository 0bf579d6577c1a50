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
 * Newton basis has a real shift, or, for a complex pair a ± i b, two steps with the shift a, of
 * which the second has the square b²: real arithmetic for both.
 */
struct BasisStep
{
  double shift = 0.;
  double square = 0.;
  double scale = 1.;
};

/// How the vectors of a basis are made.
enum class PowersKind
{
  automatic, ///< plain or blocked, whichever is faster in a short trial
  plain,     ///< a product for each vector
  blocked,   ///< several products a sweep, in cache blocks
  streamed   ///< several products a visit to blocks of rows that come from host memory
};

/// "auto", "plain", "blocked", "streamed". @throws ParameterError if @p word is none of them
PowersKind powers_kind_of(const std::string &word);
std::string to_string(PowersKind kind);

/// What is 0 is chosen.
struct MatrixPowersOptions
{
  /// As a block: each part that A's order has, if it has any.
  static constexpr int parts_of_order = std::numeric_limits<int>::max();

  PowersKind kind = PowersKind::automatic;
  int steps = 10;           ///< that compute() usually makes: what choices are made for
  int depth = 0;            ///< most steps of one sweep or visit; at most most_depth. plain: 1
  int block = 0;            ///< rows of a cache block; 0: also parts_of_order
  std::size_t memory = 0;   ///< bytes of the executor's memory for a streamed matrix; 0: half of it
  std::size_t reserved = 0; ///< bytes of it that the caller is going to need
};

/**
 * The matrix powers kernel: s vectors of a Krylov basis, made with few passes over the matrix.
 *
 * Use: for communication-avoiding solvers, whose s products have no sums between them. Cost: plain
 * reads the matrix s times. Blocked reads it once a sweep of `depth` steps: each block of rows,
 * with the rows within distance depth - 1 of it in the graph of A, which are computed again, is the
 * work of a team that keeps the vectors in its scratch; this pays where blocks have few such
 * neighbours: banded matrices, or those ordered by a partition. Streamed reads the matrix from host
 * memory, once in `depth` steps, while products with the rows before run: for matrices larger than
 * the memory. All forms add the entries of a row in the same order; without M their vectors are
 * those of plain with a format of one thread a row, to the last bit; but streamed on a GPU adds
 * rows of 64 entries and more, in the mean, by eight lanes. With M the columns of A are scaled when
 * blocks are made, which changes the rounding.
 *
 * Of a part of the rows plain exchanges ghosts in each step. The other forms exchange those within
 * distance `depth` once a sweep or visit and compute the rows of the nearer ones again (Yamazaki
 * 2014, §IV.A), in the order of all rows: their vectors are those of one part. So does plain, as
 * streamed with a matrix that stays, where a depth is given. All parts make the same calls.
 *
 * `auto` measures, streamed too where A is in the memory of the host: the form it chooses may
 * depend on how fast the machine is in that moment, the others are functions of matrix and options.
 * Setup is on the host. It copies values: after a change of A or M a new one must be made. Source:
 * Demmel, Hoemmen, Mohiyuddin and Yelick 2008 (as cited by Dehnavi 2012, chapter 6); Yamazaki et
 * al. 2014, §4.
 */
class MatrixPowers
{
public:
  static constexpr int most_depth = 32;

  virtual ~MatrixPowers() = default;

  /// Of the vectors: V has room for all of its ghosts.
  const RowSpacePtr &space() const
  {
    return of_vectors;
  }

  /**
   * Fills V[1] to V[steps.size()] from V[0], which is n long, in the executor's memory. Queued in
   * order with the steps; plain and blocked may be captured in a graph, streamed may not.
   * @throws ParameterError if V has too few columns, or the first step a square
   */
  void compute(const Columns &V, const std::vector<BasisStep> &steps) const;

  /// "blocked: 4 steps a sweep, ..."
  const std::string &description() const
  {
    return facts.description;
  }
  void add_remark(const std::string &remark)
  {
    facts.description += remark;
  }
  /// With which the same is made again, for other values in the same pattern: nothing is measured.
  const MatrixPowersOptions &choice() const
  {
    return chosen;
  }
  void choose(const MatrixPowersOptions &options)
  {
    chosen = options;
  }
  /// Of the executor's memory, besides the matrix it was made from.
  std::size_t bytes() const
  {
    return facts.bytes;
  }
  /// Bytes that making @p n_steps vectors moves: between memory and chip, or, streamed, from the
  /// host.
  std::size_t traffic(int n_steps) const;

protected:
  explicit MatrixPowers(RowSpacePtr space) : of_vectors(std::move(space))
  {}

  struct Facts
  {
    std::string description;
    std::size_t bytes = 0;
    int depth = 1; ///< most steps of a sweep
    std::size_t bytes_of_sweep = 0, bytes_of_step = 0;
  };
  Facts facts; ///< of a form, which fills it in
  virtual void run(const Columns &V, const std::vector<BasisStep> &steps) const = 0;

  /// Before a sweep from V[first] on: the ghosts of what its steps read.
  void bring_ghosts(StepRunner &runner, const Columns &V, const std::vector<BasisStep> &steps,
                    const int first) const
  {
    if (steps[static_cast<std::size_t>(first)].square != 0.)
      of_vectors->bring_ghosts(runner, V[first - 1]);
    of_vectors->bring_ghosts(runner, V[first]);
  }

private:
  RowSpacePtr of_vectors;
  MatrixPowersOptions chosen;
};

/**
 * The powers of A M⁻¹ on the executor of A. With an M that is no row functor they are plain,
 * whatever the options say. @p A and @p M must outlive it.
 * @throws SolverError if blocks of the options' size and depth do not fit into the scratch of a
 *         team, or are more than three times the work; DeviceError naming what is needed if there
 * is too little memory, or `memory` does not hold two blocks of the streamed matrix; ParameterError
 * for options out of range
 */
std::unique_ptr<MatrixPowers> make_matrix_powers(const Matrix &A, const Preconditioner::Action &M,
                                                 const MatrixPowersOptions &options);

/**
 * The same, always streamed, for a matrix in host memory, of which the executor never has the
 * whole. All rows are here.
 * @param m inverse diagonal, n long, or nullptr; both are copied
 */
std::unique_ptr<MatrixPowers> make_streamed_powers(const ExecutorPtr &executor, const HostCsr &A,
                                                   const double *m,
                                                   const MatrixPowersOptions &options);

/// @p n_steps in sweeps of nearly equal length, at most @p depth each.
std::vector<int> sweeps_of(int n_steps, int depth);
} // namespace femgpu::linalg

#endif
