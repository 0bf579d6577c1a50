#include "linalg/mpi/mpi_communicator.h"

#include <algorithm>

namespace femgpu::linalg
{
MpiCommunicator::MpiCommunicator(MPI_Comm ranks) : ranks(ranks)
{
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &size);
}

void MpiCommunicator::sum(double *const values, const int n) const
{
  const auto count = static_cast<std::size_t>(n);
  gathered.resize(count * static_cast<std::size_t>(size));
  MPI_Allgather(values, n, MPI_DOUBLE, gathered.data(), n, MPI_DOUBLE, ranks);
  std::fill_n(values, count, 0.);
  for (std::size_t k = 0; k < gathered.size(); ++k)
    values[k % count] += gathered[k];
}

double MpiCommunicator::max(double value) const
{
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, ranks);
  return value;
}

void MpiCommunicator::exchange(const GhostPlan &plan, const double *sent, double *ghosts) const
{
  constexpr int tag = 0;
  requests.clear();
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours) {
    if (neighbour.n_received > 0)
      MPI_Irecv(ghosts, neighbour.n_received, MPI_DOUBLE, neighbour.part, tag, ranks,
                &requests.emplace_back());
    ghosts += neighbour.n_received;
  }
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours) {
    const std::size_t n_sent = neighbour.sent_rows.size();
    if (n_sent > 0)
      MPI_Isend(sent, static_cast<int>(n_sent), MPI_DOUBLE, neighbour.part, tag, ranks,
                &requests.emplace_back());
    sent += n_sent;
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}
} // namespace femgpu::linalg
