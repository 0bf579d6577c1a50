#ifndef femgpu_linalg_mpi_mpi_communicator_h
#define femgpu_linalg_mpi_mpi_communicator_h

#include "linalg/operators/communicator.h"

#include <mpi.h>

#include <vector>

namespace femgpu::linalg
{
/// A communicator over the ranks of an MPI communicator. Errors are handled by MPI, which aborts
/// all ranks.
class MpiCommunicator final : public Communicator
{
public:
  /// @param ranks must outlive this object
  explicit MpiCommunicator(MPI_Comm ranks);

  std::string name() const override
  {
    return "mpi";
  }
  int n_ranks() const override
  {
    return size;
  }
  int rank() const override
  {
    return own_rank;
  }
  void do_gather(const void *mine, std::size_t bytes, void *all) const override;
  GhostPlan do_plan(std::vector<long long> ghosts,
                    const std::vector<long long> &starts) const override;
  void do_exchange(const ExchangeCounts &counts, std::size_t bytes, const void *sent,
                   void *received) const override;
  Communication communication() const override
  {
    return counted;
  }

private:
  MPI_Comm ranks;
  int own_rank = 0, size = 1;
  // used by one call at a time
  mutable std::vector<MPI_Request> requests;
  mutable Communication counted;
};
} // namespace femgpu::linalg

#endif
