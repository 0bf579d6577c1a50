#include "linalg/execution/cuda/runner.cuh"
#include "linalg/execution/scan_and_sort.h"
#include "linalg/memory/buffer.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
struct SingleTotals
{
  __device__ CountTotals operator()(const int count) const
  {
    return {count, count};
  }
};

struct AddTotals
{
  __device__ CountTotals operator()(const CountTotals &a, const CountTotals &b) const
  {
    return {a.sum + b.sum, a.largest > b.largest ? a.largest : b.largest};
  }
};

struct StoreIndex
{
  int *indices;

  __device__ void operator()(const int i) const
  {
    indices[i] = i;
  }
};

/// Calls @p f(memory, size, stream) twice, as CUB requires: first to query the size of the
/// workspace, then with a workspace of this size.
template <class Function>
void with_cub_memory(const ExecutorPtr &executor, const Function &f)
{
  executor->make_current(); // CUB launches on the current device
  const cudaStream_t stream = static_cast<const CudaExecutor &>(*executor).stream();
  std::size_t size = 0;
  FEMGPU_CUDA(f(nullptr, size, stream));
  Buffer<char> memory(executor, std::max<std::size_t>(size, 1));
  FEMGPU_CUDA(f(memory.data(), size, stream));
}
} // namespace

template <class Backend>
CountTotals total_counts(const ExecutorPtr &executor, const int *counts, const int n)
{
  Buffer<CountTotals> totals(executor, 1);
  with_cub_memory(executor, [&](void *memory, std::size_t &size, const cudaStream_t stream) {
    return cub::DeviceReduce::TransformReduce(memory, size, counts, totals.data(), n, AddTotals{},
                                              SingleTotals{}, CountTotals{}, stream);
  });
  return totals.to_host()[0];
}

template <class Backend>
void scan_counts(const ExecutorPtr &executor, const int *counts, const int n, int *starts)
{
  executor->fill_zero(starts, sizeof(int));
  with_cub_memory(executor, [&](void *memory, std::size_t &size, const cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(memory, size, counts, starts + 1, n, stream);
  });
}

// CUB's radix sort reads all keys once; then each pass, over 8 bits, reads and writes each pair of
// key and index once. A matrix with 7 million entries and 2^20 columns takes three passes, of 16
// bytes per entry each.
template <class Backend, class Key>
void sort_by_key(const ExecutorPtr &executor, const Key *keys, const int n, const Key n_keys,
                 Key *sorted, int *order)
{
  if (n == 0)
    return;
  int bits = 1;
  while ((n_keys - 1) >> bits > 0)
    ++bits;
  Buffer<int> indices(executor, static_cast<std::size_t>(n));
  Runner<CudaBackend>(*executor).run(rows(n, StoreIndex{indices.data()}));
  with_cub_memory(executor, [&](void *memory, std::size_t &size, const cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(memory, size, keys, sorted, indices.data(), order, n, 0,
                                           bits, stream);
  });
}

template CountTotals total_counts<CudaBackend>(const ExecutorPtr &, const int *, int);
template void scan_counts<CudaBackend>(const ExecutorPtr &, const int *, int, int *);
template void sort_by_key<CudaBackend>(const ExecutorPtr &, const int *, int, int, int *, int *);
template void sort_by_key<CudaBackend>(const ExecutorPtr &, const long long *, int, long long,
                                       long long *, int *);
} // namespace femgpu::linalg
