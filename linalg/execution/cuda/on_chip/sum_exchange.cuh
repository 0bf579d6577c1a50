#ifndef femgpu_linalg_execution_cuda_on_chip_sum_exchange_cuh
#define femgpu_linalg_execution_cuda_on_chip_sum_exchange_cuh

#include "linalg/execution/cuda/on_chip/fabric.cuh"
#include "linalg/execution/cuda/packet.cuh"

namespace femgpu::linalg::cuda
{
/**
 * Computes many sums over all blocks of a device, which must be resident at the same time. For
 * every sum, all blocks send their parts to one block, which adds them up in a fixed order and
 * sends the sum to all blocks; if there are several devices, the sum is over all devices. Receivers
 * poll the packets (packet.cuh): no barrier or fence waits until a write has completed. A round
 * has ended for a block when it has received the sums, to which all blocks have contributed; so the
 * next round can reuse the packets. Rounds are numbered from 1 with 32 bits, which suffices for two
 * rounds in each of 2^31-1 iterations.
 */
class SumExchange
{
public:
  /// Returns the number of packets for @p count sums. The packets must be zero at first.
  static constexpr int packets_for(const int count, const int blocks)
  {
    return count * (blocks + 1);
  }

  __device__ explicit SumExchange(Packet *packets)
      : packets(packets), n_blocks(static_cast<int>(gridDim.x)), rank(static_cast<int>(blockIdx.x))
  {}

  /// Begins the next round; called by all threads.
  __device__ void begin_round()
  {
    ++round;
  }
  /// Sends this block's part of sum @p number; called by one thread.
  __device__ void send_partial(const int number, const double partial) const
  {
    send<SyncScope::blocks>(slot(number) + rank, pack(partial, round));
  }
  /// Calls consume(number, sum) for the sums with number < @p count, in one thread for each sum.
  /// Called by all threads; a barrier of the block must follow.
  template <class Fabric, class Function>
  __device__ void receive(const Fabric &fabric, const int count, const Function &consume) const
  {
    const int warp = threadIdx.x / warp_size, n_warps = blockDim.x / warp_size;
    for (int number = warp * n_blocks + rank; number < count; number += n_warps * n_blocks)
      add_up(fabric, number);
    for (int number = threadIdx.x; number < count; number += blockDim.x)
      consume(number, await<SyncScope::blocks>(slot(number) + n_blocks, round));
  }

  /// Returns sum number @p first + l mod @p count in lane l; called by one warp.
  template <int count, class Fabric>
  __device__ double receive_by_warp(const Fabric &fabric, const int first) const
  {
    for (int number = first; number < first + count; ++number)
      if (number % n_blocks == rank)
        add_up(fabric, number);
    return await<SyncScope::blocks>(slot(first + static_cast<int>(threadIdx.x) % count) + n_blocks,
                                    round);
  }

  __device__ unsigned int n_rounds() const
  {
    return round;
  }

private:
  __device__ Packet *slot(const int number) const
  {
    return packets + number * (n_blocks + 1);
  }

  /// Adds up the parts of a sum and sends the result; called by one warp.
  template <class Fabric>
  __device__ void add_up(const Fabric &fabric, const int number) const
  {
    const int lane = threadIdx.x % warp_size;
    const Packet *const partials = slot(number);
    const double sum = lane_sum<warp_size>(await_sum<SyncScope::blocks, batch>(
        lane, n_blocks, warp_size, [partials](const int block) { return partials + block; }, 0.,
        round));
    if (lane == 0)
      send<SyncScope::blocks>(slot(number) + n_blocks,
                              pack(fabric.sum_over_devices(number, sum, round), round));
    __syncwarp();
  }

  static constexpr int batch = 5; // suits the number of blocks of an H100

  Packet *packets; // for each sum: one part per block, then the sum
  int n_blocks, rank;
  unsigned int round = 0;
};
} // namespace femgpu::linalg::cuda

#endif
