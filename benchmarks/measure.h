#ifndef femgpu_benchmarks_measure_h
#define femgpu_benchmarks_measure_h

#include "linalg/base/error.h"
#include "linalg/memory/executor.h"

#include <cstddef>
#include <iostream>
#include <vector>

/**
 * @file
 * What programs that measure share.
 */
namespace femgpu::linalg::benchmark
{
/// The exit code of @p run(); errors are told, and have codes of their own.
template <class Run>
int run_program(const Run &run)
{
  try {
    return run();
  }
  catch (const femgpu::Error &error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}

double median(std::vector<double> values);

/// Between -1 and 1 with mean 0: a smooth one would end in rounding errors before 1e-12.
std::vector<double> right_hand_side(int n);

/// Bytes per second, read and written, of a copy of @p bytes inside the memory of @p executor.
double copy_bandwidth(const Executor &executor, std::size_t bytes = 3'000'000'000);
} // namespace femgpu::linalg::benchmark

#endif
