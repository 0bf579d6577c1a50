#include "linalg/mpi/distribution.h"

#include "linalg/base/parallel.h"
#include "linalg/mpi/long_messages.h"
#include "linalg/mpi/mpi_communicator.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <utility>

namespace femgpu::linalg
{
namespace
{
int n_ranks(MPI_Comm ranks)
{
  int size = 1;
  MPI_Comm_size(ranks, &size);
  return size;
}

/// Returns the low 32 bits of the start of each row, then of the end of the last row.
std::vector<int> row_starts_of(const std::vector<int> &lengths)
{
  std::vector<int> starts = {0};
  starts.reserve(lengths.size() + 1);
  std::size_t end = 0;
  for (const int length : lengths)
    starts.push_back(low_bits(end += static_cast<std::size_t>(length)));
  return starts;
}

/// Returns the element of the ascending @p numbers that is nearest to @p number.
/// @pre @p number does not exceed the last element
int nearest(const std::vector<int> &numbers, const int number)
{
  const auto above = std::lower_bound(numbers.begin(), numbers.end(), number);
  return above != numbers.begin() && number - above[-1] < *above - number ? above[-1] : *above;
}

/// Returns the starts of parts among the @p n rows that begin with row @p first, relative to
/// @p first; 0 is prepended and n appended.
std::vector<int> starts_within(const std::vector<int> &starts, const int first, const int n)
{
  std::vector<int> result = {0};
  for (const int start : starts)
    if (start > first && start < first + n)
      result.push_back(start - first);
  result.push_back(n);
  return result;
}
} // namespace

std::vector<int> balanced_rows(const HostCsr &A, const int n_subdomains)
{
  constexpr std::size_t entries_of_row = 8; // cost of a row's vectors per iteration, in entries of
                                            // 12 bytes
  const auto cost_before = [&](const int i) {
    return A.row_starts[i] + entries_of_row * static_cast<std::size_t>(i);
  };
  const std::vector<int> &known = A.unknowns->part_starts;
  const int tolerance = A.n / n_subdomains / 10;
  std::vector<int> starts = {0};
  for (int subdomain = 1; subdomain < n_subdomains; ++subdomain) {
    const double target_cost = static_cast<double>(cost_before(A.n)) * subdomain / n_subdomains;
    int begin = starts.back(), end = A.n;
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      if (static_cast<double>(cost_before(middle)) < target_cost)
        begin = middle + 1;
      else
        end = middle;
    }
    const int nearest_start = known.empty() ? begin : nearest(known, begin);
    starts.push_back(std::abs(nearest_start - begin) <= tolerance
                         ? std::max(nearest_start, starts.back())
                         : begin);
  }
  starts.push_back(A.n);
  const int node = A.node_size();
  for (int &start : starts)
    start -= start % node;
  return starts;
}

Distribution::Distribution(MPI_Comm ranks, const HostCsr &A) : ranks(ranks)
{
  MPI_Comm_rank(ranks, &rank);
  starts.resize(static_cast<std::size_t>(n_ranks(ranks)) + 1);
  if (rank == 0)
    starts = balanced_rows(A, n_ranks(ranks));
  MPI_Bcast(starts.data(), static_cast<int>(starts.size()), MPI_INT, 0, ranks);
  if (rank == 0)
    send_rows(A);
  else
    receive_rows();
  send_unknowns(*A.unknowns);
}

Distribution::Distribution(MPI_Comm ranks, HostMatrix rows) : ranks(ranks)
{
  MPI_Comm_rank(ranks, &rank);
  std::vector<int> n_rows(static_cast<std::size_t>(n_ranks(ranks)));
  MPI_Allgather(&rows.n, 1, MPI_INT, n_rows.data(), 1, MPI_INT, ranks);
  starts = row_starts_of(n_rows);
  subdomain.rows = std::move(rows);
  make_plan();
}

/// Sends to all ranks the properties of their unknowns.
void Distribution::send_unknowns(const Unknowns &all)
{
  int known[] = {all.per_node, all.dimension, all.coordinates.empty() ? 0 : 1,
                 static_cast<int>(all.part_starts.size()), all.n_near_null};
  MPI_Bcast(known, 5, MPI_INT, 0, ranks);
  Unknowns mine;
  mine.per_node = known[0];
  mine.dimension = known[1];
  mine.nodes_along_body = all.nodes_along_body;
  MPI_Bcast(&mine.nodes_along_body, 1, MPI_DOUBLE, 0, ranks);
  if (known[2] != 0)
    mine.coordinates = scatter(all.coordinates, static_cast<std::size_t>(known[1]));
  mine.n_near_null = known[4];
  if (known[4] > 0)
    mine.near_null = scatter(all.near_null, static_cast<std::size_t>(known[4]));
  if (known[3] > 0) {
    std::vector<int> all_starts = all.part_starts;
    all_starts.resize(static_cast<std::size_t>(known[3]));
    MPI_Bcast(all_starts.data(), known[3], MPI_INT, 0, ranks);
    mine.part_starts = starts_within(all_starts, starts[rank], n());
  }
  subdomain.rows.unknowns = std::make_shared<const Unknowns>(std::move(mine));
}

/// Sends row starts, columns and values to the other ranks, and copies the rows of this rank.
void Distribution::send_rows(const HostCsr &A)
{
  for (int to = n_ranks(ranks) - 1; to >= 0; --to) {
    const int first = starts[to], last = starts[to + 1];
    const std::size_t begin = A.row_starts[first], n_entries = A.row_starts[last] - begin;
    std::vector<int> lengths;
    for (int i = first; i < last; ++i)
      lengths.push_back(A.row_starts.length(i));
    if (to > 0) {
      send(lengths.data(), lengths.size(), to, ranks);
      send(A.columns + begin, n_entries, to, ranks);
      send(A.values + begin, n_entries, to, ranks);
      continue;
    }
    subdomain.rows.n = last - first;
    subdomain.rows.row_starts = row_starts_of(lengths);
    subdomain.rows.columns.assign(A.columns + begin, A.columns + begin + n_entries);
    subdomain.rows.values.assign(A.values + begin, A.values + begin + n_entries);
    make_plan();
  }
}

void Distribution::receive_rows()
{
  std::vector<int> lengths(static_cast<std::size_t>(starts[rank + 1] - starts[rank]));
  receive(lengths.data(), lengths.size(), 0, ranks);
  const auto n_entries = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  HostMatrix &rows = subdomain.rows;
  rows.n = starts[rank + 1] - starts[rank];
  rows.row_starts = row_starts_of(lengths);
  rows.columns.resize(n_entries);
  receive(rows.columns.data(), n_entries, 0, ranks);
  rows.values.resize(n_entries);
  receive(rows.values.data(), n_entries, 0, ranks);
  make_plan();
}

/// Renumbers the columns from 0 on, first owned columns and then ghosts. Makes the plan to exchange
/// ghosts.
void Distribution::make_plan()
{
  HostMatrix &A = subdomain.rows;
  const int first = starts[rank], end = starts[rank + 1];
  const RowStarts row_starts(A.row_starts.data(), A.n, A.columns.size());
  std::vector<long long> ghosts;
  std::mutex ghosts_mutex;
  parallel_ranges(A.n, [&](const int first_row, const int end_row) {
    std::vector<long long> row_ghosts;
    for (std::size_t k = row_starts[first_row]; k < row_starts[end_row]; ++k)
      if (A.columns[k] < first || A.columns[k] >= end)
        row_ghosts.push_back(A.columns[k]);
    const std::lock_guard<std::mutex> lock(ghosts_mutex);
    ghosts.insert(ghosts.end(), row_ghosts.begin(), row_ghosts.end());
  });
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  parallel_for(A.n, [&](const int i) {
    int *const columns = A.columns.data() + row_starts[i];
    double *const values = A.values.data() + row_starts[i];
    const int length = row_starts.length(i);
    const auto position_of = [&](const int column) {
      return std::lower_bound(columns, columns + length, column) - columns;
    };
    const auto own = position_of(first), after_owned = position_of(end);
    std::rotate(columns, columns + own, columns + after_owned);
    std::rotate(values, values + own, values + after_owned);
    for (int k = 0; k < length; ++k)
      columns[k] = local_number(columns[k], first, A.n, ghosts);
  });
  subdomain.ghosts = MpiCommunicator(ranks).plan(ghosts, {starts.begin(), starts.end()});
}

bool Distribution::set_values(const std::vector<double> &values)
{
  HostMatrix &A = subdomain.rows;
  const int first = starts[rank];
  const std::vector<long long> &ghosts = subdomain.ghosts.numbers;
  const auto n_ghosts_below =
      static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), first) - ghosts.begin());
  const RowStarts row_starts(A.row_starts.data(), A.n, A.columns.size());
  std::atomic<bool> has_changed = false;
  parallel_for(A.n, [&](const int i) {
    const int *const columns = A.columns.data() + row_starts[i];
    const int length = row_starts.length(i);
    const auto n_before = [&](const int column) {
      return std::lower_bound(columns, columns + length, column) - columns;
    };
    // The values of the owned columns follow those of the ghosts with lower numbers.
    const auto n_owned = n_before(A.n), n_below = n_before(A.n + n_ghosts_below) - n_owned;
    const double *const from = values.data() + row_starts[i];
    double *const to = A.values.data() + row_starts[i];
    const auto copy = [&](const std::ptrdiff_t begin, const std::ptrdiff_t end, double *const out) {
      if (!std::equal(from + begin, from + end, out))
        has_changed = true;
      std::copy(from + begin, from + end, out);
    };
    copy(n_below, n_below + n_owned, to);
    copy(0, n_below, to + n_owned);
    copy(n_below + n_owned, length, to + n_owned + n_below);
  });
  return has_changed;
}

std::vector<double> Distribution::scatter(const std::vector<double> &v,
                                          const std::size_t width) const
{
  std::vector<double> own(static_cast<std::size_t>(n()) * width);
  if (rank > 0) {
    receive(own.data(), own.size(), 0, ranks);
    return own;
  }
  for (int to = 1; to < n_ranks(ranks); ++to)
    send(v.data() + static_cast<std::size_t>(starts[to]) * width,
         static_cast<std::size_t>(starts[to + 1] - starts[to]) * width, to, ranks);
  std::copy_n(v.begin(), own.size(), own.begin());
  return own;
}

std::vector<double> Distribution::gather(const std::vector<double> &v) const
{
  if (rank > 0) {
    send(v.data(), v.size(), 0, ranks);
    return {};
  }
  std::vector<double> all(static_cast<std::size_t>(starts.back()));
  std::copy(v.begin(), v.end(), all.begin());
  for (int from = 1; from < n_ranks(ranks); ++from)
    receive(all.data() + starts[from], static_cast<std::size_t>(starts[from + 1] - starts[from]),
            from, ranks);
  return all;
}

Distribution::Range Distribution::range_of(const long long number) const
{
  long long ends[2] = {-number, number};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_LONG_LONG, MPI_MAX, ranks);
  return {-ends[0], ends[1]};
}
} // namespace femgpu::linalg
