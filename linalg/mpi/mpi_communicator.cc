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
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &size);
}

void MpiCommunicator::do_gather(const void *const mine, const std::size_t bytes,
                                void *const all) const
{
  const Stopwatch watch;
  gather_equal(static_cast<const unsigned char *>(mine), bytes, static_cast<unsigned char *>(all),
               ranks);
  ++counted.sums;
  counted.sum_seconds += watch.elapsed();
}

namespace
{
/// Returns the offsets of consecutive parts of the given sizes, and the end.
std::vector<int> begins_of(const std::vector<int> &counts)
{
  std::vector<int> begins(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
  return begins;
}
} // namespace

GhostPlan MpiCommunicator::do_plan(std::vector<long long> ghosts,
                                   const std::vector<long long> &starts) const
{
  const std::size_t n_parts = starts.size() - 1;
  const auto first_ghost_from = [&](const long long row) {
    return std::lower_bound(ghosts.begin(), ghosts.end(), row);
  };
  std::vector<int> n_wanted(n_parts), n_sent(n_parts);
  for (std::size_t from = 0; from < n_parts; ++from)
    n_wanted[from] =
        static_cast<int>(first_ghost_from(starts[from + 1]) - first_ghost_from(starts[from]));
  MPI_Alltoall(n_wanted.data(), 1, MPI_INT, n_sent.data(), 1, MPI_INT, ranks);
  const std::vector<int> wanted_begins = begins_of(n_wanted), sent_begins = begins_of(n_sent);
  std::vector<long long> sent(static_cast<std::size_t>(sent_begins.back()));
  MPI_Alltoallv(ghosts.data(), n_wanted.data(), wanted_begins.data(), MPI_LONG_LONG, sent.data(),
                n_sent.data(), sent_begins.data(), MPI_LONG_LONG, ranks);
  GhostPlan plan;
  for (std::size_t other = 0; other < n_parts; ++other) {
    if (n_wanted[other] + n_sent[other] == 0)
      continue;
    std::vector<int> rows;
    for (int k = sent_begins[other]; k < sent_begins[other + 1]; ++k)
      rows.push_back(static_cast<int>(sent[static_cast<std::size_t>(k)] -
                                      starts[static_cast<std::size_t>(rank)]));
    plan.neighbours.push_back({static_cast<int>(other), std::move(rows), n_wanted[other]});
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
      MPI_Irecv(to, static_cast<int>(neighbour.n_received), item, neighbour.part, tag, ranks,
                &requests.emplace_back());
    to += neighbour.n_received * bytes;
  }
  const auto *from = static_cast<const char *>(sent);
  for (const NeighbourCounts &neighbour : counts) {
    if (neighbour.n_sent > 0)
      MPI_Isend(from, static_cast<int>(neighbour.n_sent), item, neighbour.part, tag, ranks,
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
