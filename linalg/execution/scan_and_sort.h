#ifndef femgpu_linalg_execution_scan_and_sort_h
#define femgpu_linalg_execution_scan_and_sort_h

#include "linalg/memory/executor.h"

/**
 * @file
 * Prefix sums of counts and sorting of keys on the executor's device, mostly for the entries of
 * sparse matrices. The CUDA backend uses CUB.
 */
namespace femgpu::linalg
{
/// The sum and the maximum of n non-negative counts.
struct CountTotals
{
  long long sum = 0;
  int largest = 0;
};

/// Returns the sum and the maximum of @p n counts in the memory of @p executor.
/// @throws DeviceError if memory is exhausted
template <class Backend>
CountTotals total_counts(const ExecutorPtr &executor, const int *counts, int n);

/// Computes starts[i] = Σ_{k<i} counts[k] for 0 <= i <= n; the total must be less than 2^31.
/// @throws DeviceError if memory is exhausted
template <class Backend>
void scan_counts(const ExecutorPtr &executor, const int *counts, int n, int *starts);

/**
 * Sorts keys in ascending order, and stores the original position of sorted[k] in order[k]. The
 * sort is stable. All arrays have @p n elements in the memory of @p executor.
 * @param keys numbers 0 <= key < @p n_keys
 * @throws DeviceError if memory is exhausted
 */
template <class Backend, class Key> // int or long long
void sort_by_key(const ExecutorPtr &executor, const Key *keys, int n, Key n_keys, Key *sorted,
                 int *order);
} // namespace femgpu::linalg

#endif
