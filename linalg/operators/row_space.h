#ifndef femgpu_linalg_operators_row_space_h
#define femgpu_linalg_operators_row_space_h

#include "linalg/memory/buffer.h"
#include "linalg/operators/ghost_exchange.h"

#include <memory>
#include <optional>
#include <vector>

namespace femgpu::linalg
{
/// The number of the global row @p row, where the ghosts behind @p n own rows have these global
/// numbers; -1 if it is none of them.
int ghost_number(long long row, int n, const std::vector<long long> &ghosts);

/// The same of any row of a part, which has the @p n rows from @p first on.
inline int local_number(const long long row, const long long first, const int n,
                        const std::vector<long long> &ghosts)
{
  return row >= first && row < first + n ? static_cast<int>(row - first)
                                         : ghost_number(row, n, ghosts);
}

/**
 * The rows of vectors that an executor has: own ones, and behind them ghosts, copies of rows of
 * other parts that products with a matrix need. Where there is one part, all rows are own ones.
 */
class RowSpace
{
public:
  /// All rows are here.
  RowSpace(ExecutorPtr executor, int n_rows);

  /// One part of several, without ghosts. Is called by all parts.
  RowSpace(ExecutorPtr executor, int n_rows, CommunicatorPtr communicator);

  /// Other rows of the same parts, without ghosts. Is called by all parts.
  RowSpace(const RowSpace &parts, int n_rows);

  /// The same rows with the ghosts of @p plan.
  RowSpace(const RowSpace &rows, GhostPlan plan);

  /// The same rows with ghosts that have these global numbers, in any order and perhaps repeated;
  /// without those that are own rows. Is called by all parts.
  RowSpace(const RowSpace &rows, std::vector<long long> ghosts);

  const ExecutorPtr &executor() const
  {
    return owner;
  }
  /// Own rows.
  int n() const
  {
    return n_own;
  }
  /// What a vector needs memory for.
  std::size_t n_with_ghosts() const
  {
    return static_cast<std::size_t>(n_own) +
           static_cast<std::size_t>(ghosts ? ghosts->n_ghosts() : 0);
  }
  /// Rows of all parts.
  long long n_global() const
  {
    return starts.back();
  }
  /// Rows of the parts before this one: the global number of the first own row.
  long long first() const
  {
    return starts[own];
  }
  /// Where the values of ghosts come from; nullptr: there is one part, or there are none.
  const GhostPlan *ghost_plan() const
  {
    return ghosts ? &*ghosts : nullptr;
  }
  /// Of a row, or of a ghost.
  long long global_number(const int i) const
  {
    return i < n_own ? first() + i : ghosts->numbers[static_cast<std::size_t>(i - n_own)];
  }
  /// And back. @param row an own one or a ghost
  int number_here(const long long row) const
  {
    return ghosts ? local_number(row, first(), n_own, ghosts->numbers)
                  : static_cast<int>(row - first());
  }
  /// nullptr: there is one part.
  const Communicator *communicator() const
  {
    return parts.get();
  }

  /// The largest of the parts' values.
  double max(const double value) const
  {
    return parts ? parts->max(value) : value;
  }
  /// Over the parts.
  double sum(double value) const
  {
    if (parts)
      parts->sum(&value, 1);
    return value;
  }

  Buffer<double> make_vector() const
  {
    return {owner, n_with_ghosts()};
  }

  /// Gives the ghosts of @p v, n_with_ghosts() numbers, the values that their owners have, in order
  /// with the steps of @p runner.
  void bring_ghosts(StepRunner &runner, double *v) const
  {
    if (ghosts)
      exchange->bring(runner, v);
  }
  /// The same behind all steps.
  void bring_ghosts(double *v) const;

  /// Adds the ghosts of @p v to the rows of their owners, likewise.
  void add_ghosts(StepRunner &runner, double *v) const
  {
    if (ghosts)
      exchange->give_back(runner, v);
  }
  void add_ghosts(double *v) const;

  /// How the loops of all parts exchange ghosts and sums where each is one kernel; nullptr: they do
  /// not.
  const cuda::PeerLoop *peer_loop() const
  {
    return exchange ? exchange->peer_loop() : nullptr;
  }

  /// A copy of n() numbers in the executor's memory, with ghosts behind.
  Buffer<double> with_ghosts(const double *v) const;

  /// Can sums over the parts and ghosts be recorded in a graph with loops? Not where they pass
  /// through the host, nor NCCL's, which refuses the body of a conditional node.
  bool is_capturable() const
  {
    return parts == nullptr || parts->peer_sums() != nullptr;
  }

private:
  ExecutorPtr owner;
  int n_own;
  CommunicatorPtr parts;
  std::size_t own = 0;           ///< number of this part
  std::vector<long long> starts; ///< first row of each part, and the number of rows
  std::optional<GhostPlan> ghosts;
  std::shared_ptr<GhostExchange> exchange; ///< where there are ghosts
};

using RowSpacePtr = std::shared_ptr<const RowSpace>;
} // namespace femgpu::linalg

#endif
