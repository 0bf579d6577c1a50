#include "linalg/base/buffer.h"
#include "linalg/execution/cuda_runner.cuh"
#include "linalg/execution/scan.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

namespace femgpu::linalg
{
namespace
{
struct TotalsOfOne
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

cudaStream_t stream_of(const ExecutorPtr &executor)
{
  return static_cast<const CudaExecutor &>(*executor).stream();
}

/// Calls @p f(memory, size) twice, as CUB wants: for the size of its memory, and with the memory.
template <class Function>
void with_memory(const ExecutorPtr &executor, const Function &f)
{
  std::size_t size = 0;
  FEMGPU_CUDA(f(nullptr, size));
  Buffer<char> memory(executor, std::max<std::size_t>(size, 1));
  FEMGPU_CUDA(f(memory.data(), size));
}
} // namespace

template <class Backend>
CountTotals total_counts(const ExecutorPtr &executor, const int *counts, const int n)
{
  Buffer<CountTotals> totals(executor, 1);
  with_memory(executor, [&](void *memory, std::size_t &size) {
    return cub::DeviceReduce::TransformReduce(memory, size, counts, totals.data(), n, AddTotals{},
                                              TotalsOfOne{}, CountTotals{}, stream_of(executor));
  });
  return totals.to_host()[0];
}

template <class Backend>
void scan_counts(const ExecutorPtr &executor, const int *counts, const int n, int *starts)
{
  executor->fill_zero(starts, sizeof(int));
  with_memory(executor, [&](void *memory, std::size_t &size) {
    return cub::DeviceScan::InclusiveSum(memory, size, counts, starts + 1, n, stream_of(executor));
  });
}

template CountTotals total_counts<CudaBackend>(const ExecutorPtr &, const int *, int);
template void scan_counts<CudaBackend>(const ExecutorPtr &, const int *, int, int *);
} // namespace femgpu::linalg
