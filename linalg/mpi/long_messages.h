#ifndef femgpu_linalg_mpi_long_messages_h
#define femgpu_linalg_mpi_long_messages_h

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

/**
 * @file
 * Messages with any number of elements; MPI itself counts elements by int.
 */
namespace femgpu::linalg
{
template <class T>
MPI_Datatype mpi_type();
template <>
inline MPI_Datatype mpi_type<unsigned char>()
{
  return MPI_UNSIGNED_CHAR;
}
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
constexpr std::size_t max_items_per_message = std::size_t{1} << 28;

template <class T>
void send(const T *data, std::size_t n, const int to, MPI_Comm ranks)
{
  for (; n > 0; n -= std::min(n, max_items_per_message), data += max_items_per_message)
    MPI_Send(data, static_cast<int>(std::min(n, max_items_per_message)), mpi_type<T>(), to,
             tag_of_long_messages, ranks);
}
template <class T>
void receive(T *data, std::size_t n, const int from, MPI_Comm ranks)
{
  for (; n > 0; n -= std::min(n, max_items_per_message), data += max_items_per_message)
    MPI_Recv(data, static_cast<int>(std::min(n, max_items_per_message)), mpi_type<T>(), from,
             tag_of_long_messages, ranks, MPI_STATUS_IGNORE);
}

/// Broadcasts @p n elements. Collective.
/// @param at_once maximum number of elements per message
template <class T>
void broadcast(T *data, std::size_t n, const int from, MPI_Comm ranks,
               const std::size_t at_once = max_items_per_message)
{
  for (; n > 0; n -= std::min(n, at_once), data += at_once)
    MPI_Bcast(data, static_cast<int>(std::min(n, at_once)), mpi_type<T>(), from, ranks);
}

/// Gathers @p n elements from each rank on all ranks, in rank order. Collective.
/// @param at_once maximum number of elements per rank and message
template <class T>
void allgather_equal(const T *mine, const std::size_t n, T *all, MPI_Comm ranks,
                     const std::size_t at_once = max_items_per_message)
{
  if (n <= at_once) {
    MPI_Allgather(mine, static_cast<int>(n), mpi_type<T>(), all, static_cast<int>(n), mpi_type<T>(),
                  ranks);
    return;
  }
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &n_ranks);
  for (int from = 0; from < n_ranks; ++from, all += n) {
    if (from == rank)
      std::copy_n(mine, n, all);
    broadcast(all, n, from, ranks, at_once);
  }
}

/// Gathers the lists of all ranks on all ranks, in rank order; their lengths may differ.
/// Collective.
template <class List>
List allgather(List mine, MPI_Comm ranks)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_size(ranks, &n_ranks);
  if (n_ranks == 1)
    return mine;
  const auto n = static_cast<long long>(mine.size());
  std::vector<long long> sizes(static_cast<std::size_t>(n_ranks));
  MPI_Allgather(&n, 1, MPI_LONG_LONG, sizes.data(), 1, MPI_LONG_LONG, ranks);
  List all(static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0LL)));
  auto *data = all.data();
  for (int from = 0; from < n_ranks; ++from) {
    if (from == rank)
      std::copy(mine.begin(), mine.end(), data);
    const auto n_of_rank = static_cast<std::size_t>(sizes[from]);
    broadcast(data, n_of_rank, from, ranks);
    data += n_of_rank;
  }
  return all;
}
} // namespace femgpu::linalg

#endif
