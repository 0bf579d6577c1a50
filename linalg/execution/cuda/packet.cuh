#ifndef femgpu_linalg_execution_cuda_packet_cuh
#define femgpu_linalg_execution_cuda_packet_cuh

#include <cuda_runtime.h>

/**
 * @file
 * Packets, by which threads send each other numbers through memory without flags or fences.
 */
namespace femgpu::linalg::cuda
{
/// A double in memory, marked as valid: each half also contains the round in which it was sent.
struct alignas(16) Packet
{
  unsigned long long low, high;
};

__device__ inline Packet pack(const double value, const unsigned int round)
{
  const unsigned long long tag = static_cast<unsigned long long>(round) << 32U;
  return {tag | static_cast<unsigned int>(__double2loint(value)),
          tag | static_cast<unsigned int>(__double2hiint(value))};
}

__device__ inline double unpack(const Packet &packet)
{
  return __hiloint2double(static_cast<int>(packet.high), static_cast<int>(packet.low));
}

__device__ inline bool has_round(const Packet &packet, const unsigned int round)
{
  return (packet.low >> 32U) == round && (packet.high >> 32U) == round;
}

/// The threads between which packets are exchanged.
enum class SyncScope
{
  blocks, ///< threads of the blocks of one device
  devices ///< threads of the devices of one host
};

// Writes a packet; each of its two halves is written atomically.
template <SyncScope scope>
__device__ void send(Packet *const to, const Packet &packet)
{
  if constexpr (scope == SyncScope::blocks)
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(packet.low),
                 "l"(packet.high)
                 : "memory");
  else
    asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(packet.low),
                 "l"(packet.high)
                 : "memory");
}

template <SyncScope scope>
__device__ Packet load_packet(const Packet *const from)
{
  Packet packet;
  if constexpr (scope == SyncScope::blocks)
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

/// Waits until @p from holds the packet of @p round. @return the number in the packet
template <SyncScope scope>
__device__ double await(const Packet *const from, const unsigned int round)
{
  Packet packet;
  do
    packet = load_packet<scope>(from);
  while (!has_round(packet, round));
  return unpack(packet);
}

/// Waits for the packets k = first, first + step, ... < end, polling several of them at once.
/// Returns the sum of their numbers, added in this order.
/// @param at at(k) returns the address of packet k; nullptr: use the number @p mine instead
template <SyncScope scope, int n_in_flight, class At>
__device__ double await_sum(const int first, const int end, const int step, const At &at,
                            const double mine, const unsigned int round)
{
  double sum = 0.;
  for (int begin = first; begin < end; begin += n_in_flight * step) {
    double values[n_in_flight];
    bool all_arrived;
    do {
      all_arrived = true;
#pragma unroll
      for (int e = 0; e < n_in_flight; ++e) {
        const int k = begin + e * step;
        const Packet *const from = k < end ? at(k) : nullptr;
        const Packet packet =
            from != nullptr ? load_packet<scope>(from) : pack(k < end ? mine : 0., round);
        all_arrived = all_arrived && has_round(packet, round);
        values[e] = unpack(packet);
      }
    } while (!all_arrived);
#pragma unroll
    for (int e = 0; e < n_in_flight; ++e)
      sum += values[e];
  }
  return sum;
}
} // namespace femgpu::linalg::cuda

#endif
