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

void MpiCommunicator::bring_ghosts(const GhostPlan &plan, const double *const v,
                                   double *ghosts) const
{
  constexpr int tag = 0;
  requests.clear();
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours) {
    if (neighbour.n_received > 0)
      MPI_Irecv(ghosts, neighbour.n_received, MPI_DOUBLE, neighbour.part, tag, ranks,
                &requests.emplace_back());
    ghosts += neighbour.n_received;
  }
  std::size_t n_sent = 0;
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours)
    n_sent += neighbour.sent_rows.size();
  sent.resize(n_sent);
  double *begin = sent.data();
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours) {
    double *end = begin;
    for (const int row : neighbour.sent_rows)
      *end++ = v[row];
    if (end > begin)
      MPI_Isend(begin, static_cast<int>(end - begin), MPI_DOUBLE, neighbour.part, tag, ranks,
                &requests.emplace_back());
    begin = end;
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}
} // namespace femgpu::linalg
