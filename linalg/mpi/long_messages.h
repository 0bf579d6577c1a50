#ifndef femgpu_linalg_mpi_long_messages_h
#define femgpu_linalg_mpi_long_messages_h

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

/**
 * @file
 * Messages of any length, which MPI counts by int, between the first rank and others.
 */
namespace femgpu::linalg
{
template <class T>
MPI_Datatype mpi_type();
template <>
inline MPI_Datatype mpi_type<int>()
{
  return MPI_INT;
}
template <>
inline MPI_Datatype mpi_type<long long>()
{
  return MPI_LONG_LONG;
}
template <>
inline MPI_Datatype mpi_type<double>()
{
  return MPI_DOUBLE;
}

constexpr int tag_of_long_messages = 1;
constexpr std::size_t most_at_once = std::size_t{1} << 28;

template <class T>
void send(const T *data, std::size_t n, const int to, MPI_Comm ranks)
{
  for (; n > 0; n -= std::min(n, most_at_once), data += most_at_once)
    MPI_Send(data, static_cast<int>(std::min(n, most_at_once)), mpi_type<T>(), to,
             tag_of_long_messages, ranks);
}
template <class T>
void receive(T *data, std::size_t n, const int from, MPI_Comm ranks)
{
  for (; n > 0; n -= std::min(n, most_at_once), data += most_at_once)
    MPI_Recv(data, static_cast<int>(std::min(n, most_at_once)), mpi_type<T>(), from,
             tag_of_long_messages, ranks, MPI_STATUS_IGNORE);
}

/// Collective. The numbers of all ranks, one rank after the other, on the first; elsewhere none.
template <class T>
std::vector<T> gather_on_first(std::vector<T> mine, MPI_Comm ranks)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &n_ranks);
  const auto n = static_cast<long long>(mine.size());
  std::vector<long long> sizes(static_cast<std::size_t>(n_ranks));
  MPI_Gather(&n, 1, MPI_LONG_LONG, sizes.data(), 1, MPI_LONG_LONG, 0, ranks);
  if (rank > 0) {
    send(mine.data(), mine.size(), 0, ranks);
    return {};
  }
  for (int from = 1; from < n_ranks; ++from) {
    const std::size_t begin = mine.size(), size = static_cast<std::size_t>(sizes[from]);
    mine.resize(begin + size);
    receive(mine.data() + begin, size, from, ranks);
  }
  return mine;
}

/// Collective. Gives each rank what the first one has for it.
/// @param of_ranks a list for each rank; only what the first rank gives counts
template <class T>
std::vector<T> scatter_from_first(std::vector<std::vector<T>> of_ranks, MPI_Comm ranks)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &n_ranks);
  std::vector<long long> sizes(static_cast<std::size_t>(n_ranks));
  for (std::size_t to = 0; rank == 0 && to < sizes.size(); ++to)
    sizes[to] = static_cast<long long>(of_ranks[to].size());
  long long n = 0;
  MPI_Scatter(sizes.data(), 1, MPI_LONG_LONG, &n, 1, MPI_LONG_LONG, 0, ranks);
  if (rank > 0) {
    std::vector<T> mine(static_cast<std::size_t>(n));
    receive(mine.data(), mine.size(), 0, ranks);
    return mine;
  }
  for (int to = 1; to < n_ranks; ++to)
    send(of_ranks[to].data(), of_ranks[to].size(), to, ranks);
  return std::move(of_ranks[0]);
}
} // namespace femgpu::linalg

#endif
