#ifndef femgpu_benchmarks_measure_h
#define femgpu_benchmarks_measure_h

#include "linalg/execution/executor.h"

#include <cstddef>
#include <vector>

/**
 * @file
 * What programs that measure share.
 */
namespace femgpu::linalg::benchmark
{
double median(std::vector<double> values);

/// Between -1 and 1 with mean 0: a smooth one would end in rounding errors before 1e-12.
std::vector<double> right_hand_side(int n);

/// Bytes per second, read and written, of a copy of @p bytes inside the memory of @p executor.
double copy_bandwidth(const Executor &executor, std::size_t bytes = 3'000'000'000);
} // namespace femgpu::linalg::benchmark

#endif
