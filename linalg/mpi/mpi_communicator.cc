#include "linalg/mpi/mpi_communicator.h"

#include "linalg/base/timing.h"
#include "linalg/mpi/long_messages.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace femgpu::linalg
{
MpiCommunicator::MpiCommunicator(MPI_Comm ranks) : ranks(ranks)
{
  MPI_Comm_rank(ranks, &own_rank);
  MPI_Comm_size(ranks, &size);
}

void MpiCommunicator::do_gather(const void *const mine, const std::size_t bytes,
                                void *const all) const
{
  const Stopwatch watch;
  allgather_equal(static_cast<const unsigned char *>(mine), bytes,
                  static_cast<unsigned char *>(all), ranks);
  ++counted.sums;
  counted.sum_seconds += watch.elapsed();
}

namespace
{
/// Returns the offsets of consecutive parts with the sizes @p counts, then the sum of the sizes.
std::vector<int> offsets_of(const std::vector<int> &counts)
{
  std::vector<int> offsets(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  return offsets;
}
} // namespace

GhostPlan MpiCommunicator::do_plan(std::vector<long long> ghosts,
                                   const std::vector<long long> &starts) const
{
  const std::size_t n_ranks = starts.size() - 1;
  const auto first_ghost_from = [&](const long long row) {
    return std::lower_bound(ghosts.begin(), ghosts.end(), row);
  };
  std::vector<int> n_requested(n_ranks), n_sent(n_ranks);
  for (std::size_t from = 0; from < n_ranks; ++from)
    n_requested[from] =
        static_cast<int>(first_ghost_from(starts[from + 1]) - first_ghost_from(starts[from]));
  MPI_Alltoall(n_requested.data(), 1, MPI_INT, n_sent.data(), 1, MPI_INT, ranks);
  const std::vector<int> requested_offsets = offsets_of(n_requested),
                         sent_offsets = offsets_of(n_sent);
  std::vector<long long> sent(static_cast<std::size_t>(sent_offsets.back()));
  MPI_Alltoallv(ghosts.data(), n_requested.data(), requested_offsets.data(), MPI_LONG_LONG,
                sent.data(), n_sent.data(), sent_offsets.data(), MPI_LONG_LONG, ranks);
  GhostPlan plan;
  for (std::size_t other = 0; other < n_ranks; ++other) {
    if (n_requested[other] + n_sent[other] == 0)
      continue;
    std::vector<int> rows;
    for (int k = sent_offsets[other]; k < sent_offsets[other + 1]; ++k)
      rows.push_back(static_cast<int>(sent[static_cast<std::size_t>(k)] -
                                      starts[static_cast<std::size_t>(own_rank)]));
    plan.neighbours.push_back({static_cast<int>(other), std::move(rows), n_requested[other]});
  }
  plan.numbers = std::move(ghosts);
  return plan;
}

void MpiCommunicator::do_exchange(const ExchangeCounts &counts, const std::size_t bytes,
                                  const void *sent, void *received) const
{
  constexpr int tag = 0;
  const Stopwatch watch;
  MPI_Datatype item = MPI_DATATYPE_NULL; // so that counts of items, unlike bytes, fit in an int
  MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &item);
  MPI_Type_commit(&item);
  requests.clear();
  auto *to = static_cast<char *>(received);
  for (const NeighbourCounts &neighbour : counts) {
    if (neighbour.n_received > 0)
      MPI_Irecv(to, static_cast<int>(neighbour.n_received), item, neighbour.rank, tag, ranks,
                &requests.emplace_back());
    to += neighbour.n_received * bytes;
  }
  const auto *from = static_cast<const char *>(sent);
  for (const NeighbourCounts &neighbour : counts) {
    if (neighbour.n_sent > 0)
      MPI_Isend(from, static_cast<int>(neighbour.n_sent), item, neighbour.rank, tag, ranks,
                &requests.emplace_back());
    from += neighbour.n_sent * bytes;
    counted.exchanged_bytes += neighbour.n_sent * bytes;
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Type_free(&item);
  ++counted.exchanges;
  counted.exchange_seconds += watch.elapsed();
}
} // namespace femgpu::linalg
