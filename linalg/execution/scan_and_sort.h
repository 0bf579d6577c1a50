#ifndef femgpu_linalg_execution_scan_and_sort_h
#define femgpu_linalg_execution_scan_and_sort_h

#include "linalg/memory/executor.h"

/**
 * @file
 * Sums of counts, and sorting of numbers, that are where steps run: of entries of rows, mostly. On
 * a GPU by CUB.
 */
namespace femgpu::linalg
{
/// Of n counts that are not negative.
struct CountTotals
{
  long long sum = 0;
  int largest = 0;
};

/// @param counts n, in the memory of @p executor. @throws DeviceError without memory
template <class Backend>
CountTotals total_counts(const ExecutorPtr &executor, const int *counts, int n);

/// starts[i] = Σ_{k<i} counts[k] for 0 <= i <= n; the sum of all must be less than 2^31.
/// @throws DeviceError without memory
template <class Backend>
void scan_counts(const ExecutorPtr &executor, const int *counts, int n, int *starts);

/**
 * sorted are the keys, ascending, and order[k] the place that the k-th of them had; equal keys keep
 * their order. All arrays have @p n elements in the memory of @p executor.
 * @param keys 0 <= key < @p n_keys
 * @throws DeviceError without memory
 */
template <class Backend, class Key> // int or long long
void sort_by_key(const ExecutorPtr &executor, const Key *keys, int n, Key n_keys, Key *sorted,
                 int *order);
} // namespace femgpu::linalg

#endif
