#include "linalg/execution/cuda/cub_memory.cuh"
#include "linalg/execution/cuda/runner.cuh"
#include "linalg/execution/memory/buffer.h"
#include "linalg/execution/steps/sort.h"

#include <cub/device/device_radix_sort.cuh>

namespace femgpu::linalg
{
namespace
{
struct StorePlace
{
  int *places;

  __device__ void operator()(const int i) const
  {
    places[i] = i;
  }
};
} // namespace

// A pass of 8 bits reads and writes each pair once, and all keys are read once before: 7 million
// entries of a matrix with 2^20 columns are three passes of 16 bytes an entry.
template <class Backend>
void sort_by_key(const ExecutorPtr &executor, const int *keys, const int n, const int n_keys,
                 int *sorted, int *order)
{
  if (n == 0)
    return;
  int bits = 1;
  while ((static_cast<unsigned int>(n_keys) - 1U) >> static_cast<unsigned int>(bits) != 0)
    ++bits;
  Buffer<int> places(executor, static_cast<std::size_t>(n));
  Runner<CudaBackend>(*executor).run(rows(n, StorePlace{places.data()}));
  cuda::with_cub_memory(executor, [&](void *memory, std::size_t &size, const cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(memory, size, keys, sorted, places.data(), order, n, 0,
                                           bits, stream);
  });
}

template void sort_by_key<CudaBackend>(const ExecutorPtr &, const int *, int, int, int *, int *);
} // namespace femgpu::linalg
