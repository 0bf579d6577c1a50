#ifndef femgpu_app_gather_h
#define femgpu_app_gather_h

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <mpi.h>

namespace femgpu
{
/**
 * Collective. What all ranks have, one after the other, on the first; nothing on the others.
 * @param mine a std::vector, a RawVector or a std::string of numbers of the @p type, any number of
 * them
 */
template <class Numbers>
Numbers gather(Numbers mine, MPI_Datatype type, MPI_Comm communicator)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &n_ranks);
  const unsigned long long n = mine.size();
  std::vector<unsigned long long> lengths(n_ranks);
  MPI_Gather(&n, 1, MPI_UNSIGNED_LONG_LONG, lengths.data(), 1, MPI_UNSIGNED_LONG_LONG, 0,
             communicator);
  constexpr int tag = 4713;
  constexpr std::size_t most = std::size_t{1} << 30; // MPI counts by int
  if (rank > 0) {
    for (std::size_t begin = 0; begin < n; begin += most)
      MPI_Send(mine.data() + begin, static_cast<int>(std::min<std::size_t>(most, n - begin)), type,
               0, tag, communicator);
    return {};
  }
  mine.resize(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  std::size_t place = n;
  for (int r = 1; r < n_ranks; place += lengths[r++])
    for (std::size_t begin = 0; begin < lengths[r]; begin += most)
      MPI_Recv(mine.data() + place + begin,
               static_cast<int>(std::min<std::size_t>(most, lengths[r] - begin)), type, r, tag,
               communicator, MPI_STATUS_IGNORE);
  return mine;
}
} // namespace femgpu

#endif
