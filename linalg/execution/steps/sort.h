#ifndef femgpu_linalg_execution_steps_sort_h
#define femgpu_linalg_execution_steps_sort_h

#include "linalg/execution/memory/executor.h"

/**
 * @file
 * Sorting of numbers that are where steps run. On a GPU by CUB.
 */
namespace femgpu::linalg
{
/**
 * sorted are the keys, ascending, and order[k] the place that the k-th of them had; equal keys keep
 * their order. All arrays have @p n elements in the memory of @p executor.
 * @param keys 0 <= key < @p n_keys
 * @throws DeviceError without memory
 */
template <class Backend>
void sort_by_key(const ExecutorPtr &executor, const int *keys, int n, int n_keys, int *sorted,
                 int *order);
} // namespace femgpu::linalg

#endif
