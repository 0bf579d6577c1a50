#ifndef femgpu_linalg_operators_row_space_h
#define femgpu_linalg_operators_row_space_h

#include "linalg/memory/buffer.h"
#include "linalg/operators/ghost_exchange.h"

#include <memory>
#include <optional>
#include <vector>

namespace femgpu::linalg
{
/// Returns the local number of the global row @p row if it is a ghost, otherwise -1. Ghosts follow
/// the @p n owned rows.
/// @param ghosts global numbers of the ghosts, in ascending order
int ghost_number(long long row, int n, const std::vector<long long> &ghosts);

/// Returns the local number of the global row @p row on a rank that owns @p n rows starting at
/// @p first; -1 if @p row is neither an owned row nor a ghost.
inline int local_number(const long long row, const long long first, const int n,
                        const std::vector<long long> &ghosts)
{
  return row >= first && row < first + n ? static_cast<int>(row - first)
                                         : ghost_number(row, n, ghosts);
}

/**
 * The rows of vectors on an executor: owned rows, followed by ghosts, which are copies of other
 * ranks' rows that products with a matrix need. With one rank, all rows are owned.
 */
class RowSpace
{
public:
  /// Makes a space whose rows are all on this rank.
  RowSpace(ExecutorPtr executor, int n_rows);

  /// Makes a distributed space with @p n_rows rows on this rank, without ghosts. Collective.
  RowSpace(ExecutorPtr executor, int n_rows, CommunicatorPtr communicator);

  /// Makes a space with @p n_rows rows on this rank, without ghosts, on the executor and the ranks
  /// of @p other. Collective.
  RowSpace(const RowSpace &other, int n_rows);

  /// Makes a space with the owned rows of @p rows and the ghosts of @p plan.
  RowSpace(const RowSpace &rows, GhostPlan plan);

  /// Makes a space with the owned rows of @p rows and with ghosts that only have numbers: vectors
  /// cannot exchange their values.
  /// @param ghosts global numbers in any order, possibly repeated; owned rows are ignored
  static std::shared_ptr<const RowSpace> numbering(const RowSpace &rows,
                                                   std::vector<long long> ghosts);

  /// Makes a space with the owned rows of @p rows and with ghosts. Collective.
  /// @pre rows.communicator() is not nullptr
  /// @param ghosts global numbers in any order, possibly repeated; owned rows are ignored
  RowSpace(const RowSpace &rows, std::vector<long long> ghosts);

  const ExecutorPtr &executor() const
  {
    return owner;
  }
  /// The number of owned rows.
  int n() const
  {
    return n_own;
  }
  /// The length of a vector: owned rows and ghosts.
  std::size_t n_with_ghosts() const
  {
    return static_cast<std::size_t>(n_own) +
           static_cast<std::size_t>(ghosts ? ghosts->n_ghosts() : 0);
  }
  /// The number of rows of all ranks.
  long long n_global() const
  {
    return starts.back();
  }
  /// The global number of the first owned row.
  long long first() const
  {
    return starts[own];
  }
  /// The plan that updates ghosts; nullptr: there is one rank, or there are no ghosts.
  const GhostPlan *ghost_plan() const
  {
    return ghosts ? &*ghosts : nullptr;
  }
  /// Returns the global number of an owned row or of a ghost.
  long long global_number(const int i) const
  {
    return i < n_own ? first() + i : ghosts->numbers[static_cast<std::size_t>(i - n_own)];
  }
  /// Returns the local number of the global row @p row, which must be an owned row or a ghost.
  int local_index(const long long row) const
  {
    return ghosts ? local_number(row, first(), n_own, ghosts->numbers)
                  : static_cast<int>(row - first());
  }
  /// Returns the communicator of the ranks; nullptr if there is one rank.
  const Communicator *communicator() const
  {
    return comm.get();
  }

  /// Returns the maximum of @p value over the ranks.
  double max(const double value) const
  {
    return comm ? comm->max(value) : value;
  }
  /// Returns the sum of @p value over the ranks.
  double sum(double value) const
  {
    if (comm)
      comm->sum(&value, 1);
    return value;
  }

  Buffer<double> make_vector() const
  {
    return {owner, n_with_ghosts()};
  }

  /// Copies the values of the ghosts of @p v, a vector of n_with_ghosts() numbers, from the ranks
  /// that own them, after the steps that @p runner has launched.
  void update_ghost_values(StepRunner &runner, double *v) const
  {
    if (ghosts)
      exchange->update_ghost_values(runner, v);
  }
  /// Copies the values of the ghosts of @p v from the ranks that own them, after all steps launched
  /// so far.
  void update_ghost_values(double *v) const;

  /// Adds the ghosts of @p v to the corresponding rows on the ranks that own them, after the steps
  /// that @p runner has launched.
  void compress(StepRunner &runner, double *v) const
  {
    if (ghosts)
      exchange->compress(runner, v);
  }
  /// Adds the ghosts of @p v to the corresponding rows on the ranks that own them, after all steps
  /// launched so far.
  void compress(double *v) const;

  /// Returns the memory through which loops that run as one kernel per rank exchange ghosts and
  /// sums; nullptr if such loops are not supported.
  const cuda::PeerLoop *peer_loop() const
  {
    return exchange ? exchange->peer_loop() : nullptr;
  }

  /// Returns a copy of the n() numbers of @p v, which is in the executor's memory, followed by the
  /// values of the ghosts.
  Buffer<double> with_ghosts(const double *v) const;

  /// Returns whether sums over the ranks and ghost exchanges can be captured in a CUDA graph with
  /// loops. They cannot if they pass through the host, or through NCCL, whose calls cannot be
  /// captured in the body of a conditional node.
  bool is_capturable() const
  {
    return comm == nullptr || comm->peer_sums() != nullptr;
  }

private:
  ExecutorPtr owner;
  int n_own;
  CommunicatorPtr comm;
  std::size_t own = 0;           ///< number of this rank
  std::vector<long long> starts; ///< first row of each rank, then the total number of rows
  std::optional<GhostPlan> ghosts;
  std::shared_ptr<GhostExchange> exchange; ///< nullptr: there are no ghosts, or ghosts only have
                                           ///< numbers
};

using RowSpacePtr = std::shared_ptr<const RowSpace>;
} // namespace femgpu::linalg

#endif
