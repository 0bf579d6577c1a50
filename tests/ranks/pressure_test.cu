#include "linalg/execution/cuda/launch.cuh"
#include "linalg/execution/cuda/peers/peer_ghosts.cuh"
#include "linalg/execution/cuda/reduce.cuh"
#include "linalg/execution/make_executor.h"
#include "linalg/mpi/communicators.h"
#include "linalg/operators/row_space.h"
#include "linalg/steps/steps.h"

#include <gtest/gtest.h>

#include <mpi.h>

#include <cstdlib>
#include <numeric>
#include <string>

/**
 * @file
 * Stress-tests the communication between GPUs. In each round, random pauses precede every packet
 * that is sent or awaited, and every value is checked. FEMGPU_ROUNDS sets the number of rounds.
 */
namespace femgpu::linalg::test
{
namespace
{
int n_rounds()
{
  const char *const text = std::getenv("FEMGPU_ROUNDS");
  return text == nullptr ? 20000 : std::atoi(text);
}

/// Pauses for a random time of up to two microseconds, and occasionally longer.
struct RandomPause
{
  unsigned int *seed;

  __device__ void operator()() const
  {
    *seed = *seed * 1664525U + 1013904223U;
    const unsigned int number = *seed >> 16U;
    if (number % 4 == 0)
      __nanosleep(number % 1024 == 0 ? 20000 : number % 2048);
  }
};

/// Returns the value of entry @p number in a round.
__device__ double value_of(const long long number, const int round)
{
  return 1e3 * static_cast<double>(number) + static_cast<double>(round % 1009);
}

/// Checks sums. @param stale a round whose values this rank sends again in the next round; 0: none
__global__ void check_sums(const cuda::PeerSums peers, const int rounds, const int stale,
                           unsigned long long *const n_wrong)
{
  unsigned int seed = 77U * threadIdx.x + 1009U * static_cast<unsigned int>(peers.rank) + 1U;
  const auto number = static_cast<int>(threadIdx.x);
  for (int round = 1; round <= rounds; ++round) {
    const int sent = stale != 0 && round == stale + 1 ? stale : round;
    const double mine = value_of(cuda::PeerSums::max_count * peers.rank + number, sent);
    const double sum = peers.sum(number, mine, RandomPause{&seed});
    double expected = 0.;
    for (int rank = 0; rank < peers.n_ranks; ++rank)
      expected += value_of(cuda::PeerSums::max_count * rank + number, round);
    if (sum != expected)
      atomicAdd(n_wrong, 1ULL);
    __syncthreads();
    if (threadIdx.x == 0)
      peers.end_round(clock64());
    __syncthreads();
  }
}

/// Checks ghosts. Ghost @p k of the vector is entry numbers[k] of the global vector.
__global__ void check_ghosts(const cuda::PeerChannel channel, double *const v, const int n,
                             const long long first_row, const long long *const numbers,
                             const int rounds, const int stale, unsigned long long *const n_wrong)
{
  const auto thread = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  unsigned int seed =
      13U * static_cast<unsigned int>(thread) + static_cast<unsigned int>(first_row) * 31U + 1U;
  for (int round = 1; round <= rounds; ++round) {
    const int sent = stale != 0 && round == stale + 1 ? stale : round;
    for (int k = thread; k < channel.n_sent; k += step)
      if (const int from = channel.sources[k]; from >= 0)
        v[from] = value_of(first_row + from, sent);
    cuda::exchange_round<false>(channel, v, RandomPause{&seed});
    for (int k = thread; k < channel.n_entries; k += step)
      if (const int row = channel.rows[k]; row >= 0 && v[row] != value_of(numbers[row - n], round))
        atomicAdd(n_wrong, 1ULL);
    __syncthreads(); // completes the writes of this round
  }
}

class Pressure : public testing::Test
{
protected:
  void SetUp() override
  {
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (n_cuda_devices() < size)
      GTEST_SKIP() << "each rank needs a GPU";
    executor = std::static_pointer_cast<const CudaExecutor>(
        make_executor("cuda:" + std::to_string(own_rank)));
    communicator = make_communicator(MPI_COMM_WORLD, executor, "peers");
  }

  /// Returns the number of wrong values on all ranks.
  template <class Launch>
  double wrong_values(const Launch &launch) const
  {
    Buffer<unsigned long long> n_wrong(executor, 1);
    n_wrong.fill_zero();
    launch(n_wrong.data());
    executor->synchronize();
    double sum = static_cast<double>(n_wrong.to_host()[0]);
    communicator->sum(&sum, 1);
    return sum;
  }

  double wrong_sums(const int rounds, const int stale = 0) const
  {
    return wrong_values([&](unsigned long long *const n_wrong) {
      cuda::launch(*executor, executor->stream(), {1, 64}, check_sums, *communicator->peer_sums(),
                   rounds, own_rank == 0 ? stale : 0, n_wrong);
    });
  }

  /// Returns the number of rows of each other rank that are ghosts of @p rank.
  static int n_ghosts(const int rank)
  {
    return 500 + 200 * rank;
  }

  /// Counts wrong ghosts. Each rank has equally many rows and ghosts from all other ranks; some
  /// rows are ghosts of several ranks.
  double wrong_ghosts(const int rounds, const int stale = 0) const
  {
    const int n = 3 * n_ghosts(size);
    std::vector<long long> ghosts;
    for (int rank = 0; rank < size; ++rank)
      for (int k = 0; rank != own_rank && k < n_ghosts(own_rank); ++k)
        ghosts.push_back(static_cast<long long>(n) * rank + 3LL * k);
    const RowSpace rows(executor, n, communicator);
    const std::vector<long long> starts = [&] {
      std::vector<long long> all;
      for (int rank = 0; rank <= size; ++rank)
        all.push_back(static_cast<long long>(n) * rank);
      return all;
    }();
    const GhostPlan plan = communicator->plan(ghosts, starts);
    const auto exchange = communicator->ghost_exchange(executor, n, plan);
    const auto &channel = static_cast<const cuda::PeerGhosts &>(*exchange).channel();
    Buffer<double> v(executor, static_cast<std::size_t>(n + plan.n_ghosts()));
    v.fill_zero();
    const Buffer<long long> numbers(executor, plan.numbers.data(), plan.numbers.size());
    return wrong_values([&](unsigned long long *const n_wrong) {
      cuda::launch(*executor, executor->stream(),
                   {1, cuda::threads_per_block}, // one block, so that its end is the end of a round
                   check_ghosts, channel, v.data(), n, rows.first(), numbers.data(), rounds,
                   own_rank == 0 ? stale : 0, n_wrong);
    });
  }

  int own_rank = 0, size = 1;
  std::shared_ptr<const CudaExecutor> executor;
  CommunicatorPtr communicator;
};

TEST_F(Pressure, SumsAreRightHoweverLongAPartTakes)
{
  EXPECT_EQ(wrong_sums(n_rounds()), 0.);
}

TEST_F(Pressure, GhostsAreRightHoweverLongAPartTakes)
{
  EXPECT_EQ(wrong_ghosts(n_rounds()), 0.);
}

/// Stale values affect 64 sums on each rank, and the ghosts of rank 0's rows on all other ranks.
TEST_F(Pressure, StaleValuesAreFound)
{
  EXPECT_EQ(wrong_sums(100, 50), 64. * size);
  double ghosts_of_first = 0.;
  for (int rank = 1; rank < size; ++rank)
    ghosts_of_first += n_ghosts(rank);
  EXPECT_EQ(wrong_ghosts(100, 50), ghosts_of_first);
}
} // namespace
} // namespace femgpu::linalg::test
