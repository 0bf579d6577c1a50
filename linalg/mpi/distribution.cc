#include "linalg/mpi/distribution.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/mpi/mpi_communicator.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

namespace femgpu::linalg
{
namespace
{
constexpr int tag = 1;
constexpr std::size_t most_at_once = std::size_t{1} << 28; // MPI counts by int

template <class T>
MPI_Datatype type_of();
template <>
MPI_Datatype type_of<int>()
{
  return MPI_INT;
}
template <>
MPI_Datatype type_of<double>()
{
  return MPI_DOUBLE;
}

template <class T>
void send(const T *data, std::size_t n, const int to, MPI_Comm ranks)
{
  for (; n > 0; n -= std::min(n, most_at_once), data += most_at_once)
    MPI_Send(data, static_cast<int>(std::min(n, most_at_once)), type_of<T>(), to, tag, ranks);
}
template <class T>
void receive(T *data, std::size_t n, const int from, MPI_Comm ranks)
{
  for (; n > 0; n -= std::min(n, most_at_once), data += most_at_once)
    MPI_Recv(data, static_cast<int>(std::min(n, most_at_once)), type_of<T>(), from, tag, ranks,
             MPI_STATUS_IGNORE);
}

int n_ranks(MPI_Comm ranks)
{
  int size = 1;
  MPI_Comm_size(ranks, &size);
  return size;
}

/// Begins of consecutive parts of such sizes, and the end.
std::vector<int> begins_of(const std::vector<int> &counts)
{
  std::vector<int> begins(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
  return begins;
}
} // namespace

std::vector<int> balanced_rows(const HostCsr &A, const int n_parts)
{
  constexpr std::size_t entries_of_row = 8; // vectors of an iteration, in entries of 12 bytes
  const auto cost_before = [&](const int i) {
    return A.row_starts[i] + entries_of_row * static_cast<std::size_t>(i);
  };
  std::vector<int> starts = {0};
  for (int part = 1; part < n_parts; ++part) {
    const double wanted = static_cast<double>(cost_before(A.n)) * part / n_parts;
    int begin = starts.back(), end = A.n;
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      if (static_cast<double>(cost_before(middle)) < wanted)
        begin = middle + 1;
      else
        end = middle;
    }
    starts.push_back(begin);
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

/// To all: what is known of their rows.
void Distribution::send_unknowns(const Unknowns &all)
{
  int known[] = {all.per_node, all.dimension, all.coordinates.empty() ? 0 : 1};
  MPI_Bcast(known, 3, MPI_INT, 0, ranks);
  Unknowns mine;
  mine.per_node = known[0];
  mine.dimension = known[1];
  if (known[2] != 0)
    mine.coordinates = scatter(all.coordinates, static_cast<std::size_t>(known[1]));
  part.rows.unknowns = std::make_shared<const Unknowns>(std::move(mine));
}

/// Row starts, columns and values of their rows to the others; and the own ones.
void Distribution::send_rows(const HostCsr &A)
{
  for (int to = n_ranks(ranks) - 1; to >= 0; --to) {
    const int first = starts[to], last = starts[to + 1];
    const std::size_t begin = A.row_starts[first], n_entries = A.row_starts[last] - begin;
    if (n_entries > static_cast<std::size_t>(most_indices))
      throw ParameterError("A part of the matrix has " + std::to_string(n_entries) +
                           " entries, more than the " + std::to_string(most_indices) +
                           " that it can count. Use more ranks.");
    std::vector<int> lengths;
    for (int i = first; i < last; ++i)
      lengths.push_back(A.row_starts.length(i));
    if (to > 0) {
      send(lengths.data(), lengths.size(), to, ranks);
      send(A.columns + begin, n_entries, to, ranks);
      send(A.values + begin, n_entries, to, ranks);
      continue;
    }
    part.rows.row_starts = begins_of(lengths);
    part.rows.values.assign(A.values + begin, A.values + begin + n_entries);
    make_plan({A.columns + begin, A.columns + begin + n_entries});
  }
}

void Distribution::receive_rows()
{
  std::vector<int> lengths(static_cast<std::size_t>(starts[rank + 1] - starts[rank]));
  receive(lengths.data(), lengths.size(), 0, ranks);
  const auto n_entries = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  part.rows.row_starts = begins_of(lengths);
  std::vector<int> columns(n_entries);
  receive(columns.data(), n_entries, 0, ranks);
  part.rows.values.resize(n_entries);
  receive(part.rows.values.data(), n_entries, 0, ranks);
  make_plan(std::move(columns));
}

/// Puts own columns first, from 0 on, then ghosts, and tells the ranks that own these.
void Distribution::make_plan(std::vector<int> columns)
{
  const int first = starts[rank];
  HostMatrix &A = part.rows;
  A.n = starts[rank + 1] - first;
  const auto is_own = [&](const int column) { return column >= first && column < first + A.n; };
  std::vector<long long> ghosts;
  std::copy_if(columns.begin(), columns.end(), std::back_inserter(ghosts),
               [&](const int column) { return !is_own(column); });
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());

  A.columns.resize(columns.size());
  std::vector<double> values(columns.size());
  for (int i = 0; i < A.n; ++i) {
    std::size_t to = A.row_starts[i];
    for (const bool of_ghosts : {false, true})
      for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        if (is_own(columns[k]) != of_ghosts) {
          A.columns[to] = local_number(columns[k], first, A.n, ghosts);
          values[to++] = A.values[k];
        }
  }
  A.values = std::move(values);
  part.ghosts = MpiCommunicator(ranks).plan(ghosts, {starts.begin(), starts.end()});
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
