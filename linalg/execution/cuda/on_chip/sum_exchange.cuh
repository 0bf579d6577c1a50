#ifndef femgpu_linalg_execution_cuda_on_chip_sum_exchange_cuh
#define femgpu_linalg_execution_cuda_on_chip_sum_exchange_cuh

#include "linalg/execution/cuda/on_chip/fabric.cuh"

namespace femgpu::linalg::cuda
{
/// A number in memory that says itself when it is there: each half has the number of its round.
struct alignas(16) Packet
{
  unsigned long long low, high;
};

/**
 * Many sums over all blocks of a device, which must be there at the same time. Every block sends
 * its part of a sum to the block that adds it up, in a fixed order, and this one sends the sum to
 * all. Who waits looks at the number itself: there is no barrier, and no fence that waits until
 * what was sent has come. A round has ended for a block when it has the sums, of which all blocks
 * have sent their parts; so the next round can use the same places. Rounds are numbered from 1 on
 * by 32 bits, which suffices for two in each of 2^31-1 iterations.
 */
class SumExchange
{
public:
  /// Packets for @p count sums, zero at first.
  static constexpr int room(const int count, const int blocks)
  {
    return count * (blocks + 1);
  }

  __device__ explicit SumExchange(Packet *packets)
      : packets(packets), n_blocks(static_cast<int>(gridDim.x)), rank(static_cast<int>(blockIdx.x))
  {}

  /// By all threads.
  __device__ void begin_round()
  {
    ++round;
  }
  /// By one thread: this block's part of sum @p number.
  __device__ void send_part(const int number, const double part) const
  {
    send(place(number) + rank, part);
  }
  /// By all threads: calls take(number, sum) for the numbers below @p count, each by one thread. A
  /// barrier of the block has to follow.
  template <class Function>
  __device__ void receive(const int count, const Function &take) const
  {
    const int warp = threadIdx.x / warp_size, n_warps = blockDim.x / warp_size;
    for (int number = warp * n_blocks + rank; number < count; number += n_warps * n_blocks)
      add_up(number);
    for (int number = threadIdx.x; number < count; number += blockDim.x)
      take(number, await(place(number) + n_blocks));
  }

  /// By one warp, which gets sum first + l mod count in lane l.
  template <int count>
  __device__ double receive_by_warp(const int first) const
  {
    for (int number = first; number < first + count; ++number)
      if (number % n_blocks == rank)
        add_up(number);
    return await(place(first + static_cast<int>(threadIdx.x) % count) + n_blocks);
  }

private:
  __device__ Packet *place(const int number) const
  {
    return packets + number * (n_blocks + 1);
  }

  /// By a warp.
  __device__ void add_up(const int number) const
  {
    const int lane = threadIdx.x % warp_size;
    double sum = 0.;
    for (int first = 0; first < n_blocks; first += batch * warp_size)
      sum += await_batch(place(number), first + lane);
    sum = lane_sum<warp_size>(sum);
    if (lane == 0)
      send(place(number) + n_blocks, sum);
    __syncwarp();
  }

  /// Adds the parts of blocks first, first + 32, ...; all loads are under way together.
  __device__ double await_batch(const Packet *parts, const int first) const
  {
    double values[batch];
    bool is_there;
    do {
      is_there = true;
#pragma unroll
      for (int e = 0; e < batch; ++e) {
        const int block = first + e * warp_size;
        const Packet packet = block < n_blocks ? load(parts + block) : pack(0.);
        is_there = is_there && is_of_round(packet);
        values[e] = unpack(packet);
      }
    } while (!is_there);
    double sum = 0.;
#pragma unroll
    for (int e = 0; e < batch; ++e)
      sum += values[e];
    return sum;
  }

  __device__ double await(const Packet *from) const
  {
    Packet packet;
    do
      packet = load(from);
    while (!is_of_round(packet));
    return unpack(packet);
  }

  __device__ Packet pack(const double value) const
  {
    const unsigned long long of_round = static_cast<unsigned long long>(round) << 32U;
    return {of_round | static_cast<unsigned int>(__double2loint(value)),
            of_round | static_cast<unsigned int>(__double2hiint(value))};
  }
  __device__ static double unpack(const Packet &packet)
  {
    return __hiloint2double(static_cast<int>(packet.high), static_cast<int>(packet.low));
  }
  __device__ bool is_of_round(const Packet &packet) const
  {
    return (packet.low >> 32U) == round && (packet.high >> 32U) == round;
  }

  // Of the two halves each comes at once.
  __device__ void send(Packet *to, const double value) const
  {
    const Packet packet = pack(value);
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(packet.low),
                 "l"(packet.high)
                 : "memory");
  }
  __device__ static Packet load(const Packet *from)
  {
    Packet packet;
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
                 : "=l"(packet.low), "=l"(packet.high)
                 : "l"(from)
                 : "memory");
    return packet;
  }

  static constexpr int batch = 5; // for the blocks of an H100

  Packet *packets; // of each sum: the parts of the blocks, then the sum
  int n_blocks, rank;
  unsigned int round = 0;
};
} // namespace femgpu::linalg::cuda

#endif
