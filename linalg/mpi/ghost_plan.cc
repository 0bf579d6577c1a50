#include "linalg/mpi/ghost_plan.h"

#include <numeric>

namespace femgpu::linalg
{
namespace
{
/// Begins of consecutive parts of such sizes, and the end.
std::vector<int> begins_of(const std::vector<int> &counts)
{
  std::vector<int> begins(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
  return begins;
}
} // namespace

GhostPlan make_ghost_plan(const std::vector<long long> &ghosts,
                          const std::vector<long long> &starts, MPI_Comm parts)
{
  const std::size_t n_parts = starts.size() - 1;
  int own = 0;
  MPI_Comm_rank(parts, &own);
  const auto first_ghost_from = [&](const long long row) {
    return std::lower_bound(ghosts.begin(), ghosts.end(), row);
  };
  std::vector<int> n_wanted(n_parts), n_sent(n_parts);
  for (std::size_t from = 0; from < n_parts; ++from)
    n_wanted[from] =
        static_cast<int>(first_ghost_from(starts[from + 1]) - first_ghost_from(starts[from]));
  MPI_Alltoall(n_wanted.data(), 1, MPI_INT, n_sent.data(), 1, MPI_INT, parts);
  const std::vector<int> wanted_begins = begins_of(n_wanted), sent_begins = begins_of(n_sent);
  std::vector<long long> sent(static_cast<std::size_t>(sent_begins.back()));
  MPI_Alltoallv(ghosts.data(), n_wanted.data(), wanted_begins.data(), MPI_LONG_LONG, sent.data(),
                n_sent.data(), sent_begins.data(), MPI_LONG_LONG, parts);
  GhostPlan plan;
  for (std::size_t other = 0; other < n_parts; ++other) {
    if (n_wanted[other] + n_sent[other] == 0)
      continue;
    std::vector<int> rows;
    for (int k = sent_begins[other]; k < sent_begins[other + 1]; ++k)
      rows.push_back(static_cast<int>(sent[static_cast<std::size_t>(k)] -
                                      starts[static_cast<std::size_t>(own)]));
    plan.neighbours.push_back({static_cast<int>(other), std::move(rows), n_wanted[other]});
  }
  return plan;
}
} // namespace femgpu::linalg
