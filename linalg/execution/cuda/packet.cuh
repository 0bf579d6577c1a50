#ifndef femgpu_linalg_execution_cuda_packet_cuh
#define femgpu_linalg_execution_cuda_packet_cuh

#include <cuda_runtime.h>

/**
 * @file
 * Numbers that threads send each other through memory, without a flag or a fence.
 */
namespace femgpu::linalg::cuda
{
/// A number in memory that carries its own validity: each half contains the number of its round.
struct alignas(16) Packet
{
  unsigned long long low, high;
};

__device__ inline Packet pack(const double value, const unsigned int round)
{
  const unsigned long long of_round = static_cast<unsigned long long>(round) << 32U;
  return {of_round | static_cast<unsigned int>(__double2loint(value)),
          of_round | static_cast<unsigned int>(__double2hiint(value))};
}

__device__ inline double unpack(const Packet &packet)
{
  return __hiloint2double(static_cast<int>(packet.high), static_cast<int>(packet.low));
}

__device__ inline bool is_of_round(const Packet &packet, const unsigned int round)
{
  return (packet.low >> 32U) == round && (packet.high >> 32U) == round;
}

/// The scope of an exchange.
enum class Among
{
  blocks, ///< of one device
  devices ///< of one host
};

// Each of the two halves is written atomically.
template <Among among>
__device__ void send(Packet *const to, const Packet &packet)
{
  if constexpr (among == Among::blocks)
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(packet.low),
                 "l"(packet.high)
                 : "memory");
  else
    asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(packet.low),
                 "l"(packet.high)
                 : "memory");
}

template <Among among>
__device__ Packet look_at(const Packet *const from)
{
  Packet packet;
  if constexpr (among == Among::blocks)
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
                 : "=l"(packet.low), "=l"(packet.high)
                 : "l"(from)
                 : "memory");
  else
    asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];"
                 : "=l"(packet.low), "=l"(packet.high)
                 : "l"(from)
                 : "memory");
  return packet;
}

/// Waits for the number of a round.
template <Among among>
__device__ double await(const Packet *const from, const unsigned int round)
{
  Packet packet;
  do
    packet = look_at<among>(from);
  while (!is_of_round(packet, round));
  return unpack(packet);
}

/// Waits for the numbers first, first + step, ... below @p end, polling several of them at once.
/// Returns their sum, added in this order.
/// @param at at(k) is the address of number k; nullptr: the number is @p mine
template <Among among, int together, class At>
__device__ double await_sum(const int first, const int end, const int step, const At &at,
                            const double mine, const unsigned int round)
{
  double sum = 0.;
  for (int begin = first; begin < end; begin += together * step) {
    double values[together];
    bool are_there;
    do {
      are_there = true;
#pragma unroll
      for (int e = 0; e < together; ++e) {
        const int k = begin + e * step;
        const Packet *const from = k < end ? at(k) : nullptr;
        const Packet packet =
            from != nullptr ? look_at<among>(from) : pack(k < end ? mine : 0., round);
        are_there = are_there && is_of_round(packet, round);
        values[e] = unpack(packet);
      }
    } while (!are_there);
#pragma unroll
    for (int e = 0; e < together; ++e)
      sum += values[e];
  }
  return sum;
}
} // namespace femgpu::linalg::cuda

#endif
