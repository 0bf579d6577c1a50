#include "linalg/execution/cuda/cub_memory.cuh"
#include "linalg/execution/cuda/runner.cuh"
#include "linalg/execution/memory/buffer.h"
#include "linalg/execution/steps/scan.h"

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
} // namespace

template <class Backend>
CountTotals total_counts(const ExecutorPtr &executor, const int *counts, const int n)
{
  Buffer<CountTotals> totals(executor, 1);
  cuda::with_cub_memory(executor, [&](void *memory, std::size_t &size, const cudaStream_t stream) {
    return cub::DeviceReduce::TransformReduce(memory, size, counts, totals.data(), n, AddTotals{},
                                              TotalsOfOne{}, CountTotals{}, stream);
  });
  return totals.to_host()[0];
}

template <class Backend>
void scan_counts(const ExecutorPtr &executor, const int *counts, const int n, int *starts)
{
  executor->fill_zero(starts, sizeof(int));
  cuda::with_cub_memory(executor, [&](void *memory, std::size_t &size, const cudaStream_t stream) {
    return cub::DeviceScan::InclusiveSum(memory, size, counts, starts + 1, n, stream);
  });
}

template CountTotals total_counts<CudaBackend>(const ExecutorPtr &, const int *, int);
template void scan_counts<CudaBackend>(const ExecutorPtr &, const int *, int, int *);
} // namespace femgpu::linalg
