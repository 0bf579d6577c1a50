#ifndef femgpu_solve_ranks_h
#define femgpu_solve_ranks_h

#include "linalg/base/row_share.h"

#include <mpi.h>

#include <string>

namespace femgpu
{
/// The processes of this run: those that mpirun has started together, or one, without MPI.
class Ranks
{
public:
  Ranks();
  ~Ranks();
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  bool are_several() const
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

  /// The ranks of this node.
  struct Node
  {
    int rank, size;       ///< of this rank
    unsigned int threads; ///< for each, so that all together take the cores that they may use
  };
  Node node() const;

  /// Of what follows each other in the order of the ranks, that of this one.
  linalg::RowShare share() const
  {
    return {rank, size};
  }
  /// Over the ranks; over those before this one; the largest.
  long long sum(long long number) const;
  long long sum_before(long long number) const;
  long long max(long long number) const;

  /// The text that the first rank has.
  std::string of_first(std::string text) const;

  /// Tells what has gone wrong. Where it has on all ranks the first one tells it, and each returns
  /// @p exit_code from here; else the others wait for this rank, and all are ended.
  int fail(int exit_code, const std::string &message) const;

private:
  MPI_Comm for_failures = MPI_COMM_NULL;
  int rank = 0, size = 1;
};
} // namespace femgpu

#endif
