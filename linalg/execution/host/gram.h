#ifndef femgpu_linalg_execution_host_gram_h
#define femgpu_linalg_execution_host_gram_h

#include "linalg/base/parallel.h"
#include "linalg/steps/gram.h"

#include <algorithm>
#include <vector>

namespace femgpu::linalg
{
/// Computes Xᵀ Y for the rows begin <= i < end of X and Y, and stores it column by column in @p C.
/// Multiplies one column of Y with four columns of X at a time.
inline void gram_of_rows(const Columns &X, const Columns &Y, const int begin, const int end,
                         double *C)
{
  for (int y = 0; y < Y.count; ++y) {
    const double *const v = Y[y];
    int x = 0;
    for (; x + 3 < X.count; x += 4) {
      const double *const x_0 = X[x], *const x_1 = X[x + 1], *const x_2 = X[x + 2],
                          *const x_3 = X[x + 3];
      double c_0 = 0., c_1 = 0., c_2 = 0., c_3 = 0.;
#pragma omp simd reduction(+ : c_0, c_1, c_2, c_3)
      for (int i = begin; i < end; ++i) {
        c_0 += x_0[i] * v[i];
        c_1 += x_1[i] * v[i];
        c_2 += x_2[i] * v[i];
        c_3 += x_3[i] * v[i];
      }
      *C++ = c_0;
      *C++ = c_1;
      *C++ = c_2;
      *C++ = c_3;
    }
    for (; x < X.count; ++x) {
      const double *const x_0 = X[x];
      double c_0 = 0.;
#pragma omp simd reduction(+ : c_0)
      for (int i = begin; i < end; ++i)
        c_0 += x_0[i] * v[i];
      *C++ = c_0;
    }
  }
}

/// Returns C = Xᵀ Y, stored column by column. The rows are divided into chunks of a fixed
/// size, whose sums are added in order.
inline std::vector<double> host_gram(const int n, const Columns &X, const Columns &Y,
                                     const int n_threads)
{
  constexpr int rows_per_chunk = 1024;
  const int chunks = n / rows_per_chunk + (n % rows_per_chunk > 0 ? 1 : 0);
  const std::size_t n_entries =
      static_cast<std::size_t>(X.count) * static_cast<std::size_t>(Y.count);
  std::vector<double> partials(static_cast<std::size_t>(chunks) * n_entries);
  const auto sum_chunk = [&](const int chunk) {
    const int begin = chunk * rows_per_chunk;
    gram_of_rows(X, Y, begin, std::min(n - begin, rows_per_chunk) + begin,
                 partials.data() + static_cast<std::size_t>(chunk) * n_entries);
  };
  parallel_for(chunks, sum_chunk, std::clamp(chunks / 4, 1, n_threads));
  std::vector<double> C(n_entries);
  for (std::size_t k = 0; k < partials.size(); ++k)
    C[k % n_entries] += partials[k];
  return C;
}

/// Runs a Gram step, except for finish().
template <class Body>
void run_gram(const GramStep<Body> &step, const int n_threads)
{
  if (step.X.count == 0 || step.Y.count == 0)
    return;
  std::vector<double> C = host_gram(step.n, step.X, step.Y, n_threads);
  if (step.memory.communicator != nullptr)
    step.memory.communicator->sum(C.data(), static_cast<int>(C.size()));
  for (int y = 0; y < step.Y.count; ++y)
    for (int x = 0; x < step.X.count; ++x)
      step.body.entry(x, y,
                      C[static_cast<std::size_t>(y) * static_cast<std::size_t>(step.X.count) +
                        static_cast<std::size_t>(x)]);
}
} // namespace femgpu::linalg

#endif
