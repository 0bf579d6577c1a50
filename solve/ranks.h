#ifndef femgpu_solve_ranks_h
#define femgpu_solve_ranks_h

#include "linalg/base/row_share.h"
#include "linalg/memory/executor.h"

#include <mpi.h>

#include <string>

namespace femgpu
{
/// The ranks of this run: the processes started by mpirun, or one process without MPI.
class Ranks
{
public:
  Ranks();
  ~Ranks();
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  bool is_parallel() const
  {
    return size > 1;
  }
  bool is_first() const
  {
    return rank == 0;
  }
  MPI_Comm communicator() const
  {
    return MPI_COMM_WORLD;
  }

  /// Returns the executor of this rank. With several ranks, the ranks of a node are assigned to its
  /// devices cyclically or, if it has none, share its cores.
  /// @param backend as for linalg::make_executor()
  linalg::ExecutorPtr make_executor(const std::string &backend,
                                    const linalg::Resources &resources) const;

  /// Returns the share of this rank when contiguous blocks of rows are distributed in rank order.
  linalg::RowShare share() const
  {
    return {rank, size};
  }
  /// @name Collective reductions over all ranks. sum_before() sums over the lower ranks only.
  ///@{
  long long sum(long long number) const;
  long long sum_before(long long number) const;
  long long max(long long number) const;
  ///@}

  /// Collective. Returns the first rank's @p text on all ranks.
  std::string broadcast(std::string text) const;

  /// Prints @p message to standard error and returns @p exit_code. If all ranks call this function,
  /// only the first rank prints. If a rank does not call it within a second, that rank may be
  /// waiting for this one; this rank then prints the message and aborts all ranks.
  int fail(int exit_code, const std::string &message) const;

private:
  MPI_Comm failure_communicator = MPI_COMM_NULL;
  int rank = 0, size = 1;
};
} // namespace femgpu

#endif
