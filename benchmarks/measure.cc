#include "benchmarks/measure.h"

#include "linalg/base/parallel.h"
#include "linalg/base/timing.h"
#include "linalg/memory/buffer.h"

#include <algorithm>
#include <cstddef>

namespace femgpu::linalg::benchmark
{
double median(std::vector<double> values)
{
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> right_hand_side(const int n)
{
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<double>(i * 2654435761U % 1000003U) / 500001. - 1.;
  return b;
}

double copy_bandwidth(const Executor &executor, const std::size_t bytes)
{
  std::size_t n = bytes / sizeof(double);
  while (n * sizeof(double) > executor.memory().free / 4)
    n /= 2;
  Buffer<double> from(executor.shared_from_this(), n), to(executor.shared_from_this(), n);
  const bool on_host = executor.backend() == BackendKind::host;
  const auto copy = [&] {
    if (!on_host)
      executor.copy_within(to.data(), from.data(), from.bytes());
    else {
      const double *const source = from.data();
      double *const target = to.data();
      parallel_for(n, [&](const std::size_t i) { target[i] = source[i]; });
    }
    executor.synchronize();
  };
  from.fill_zero();
  copy();
  std::vector<double> seconds(10);
  for (double &one : seconds) {
    Stopwatch watch;
    copy();
    one = watch.lap();
  }
  return 2. * static_cast<double>(from.bytes()) / median(seconds);
}
} // namespace femgpu::linalg::benchmark
