#ifndef femgpu_tests_linalg_gram_checks_h
#define femgpu_tests_linalg_gram_checks_h

#include "tests/linalg/step_checks.h"

#include <cmath>
#include <random>

/**
 * @file
 * Checks products of tall and skinny matrices on any backend: gram_test.cc runs the checks on the
 * host, gram_cuda_test.cu on a CUDA device.
 */
namespace femgpu::linalg::test
{
/// Stores the product C by columns with leading dimension ld.
struct StoreEntry
{
  double *C;
  int ld;

  FEMGPU_HD
  void entry(const int x, const int y, const double c_xy) const
  {
    C[y * ld + x] = c_xy;
  }
};

/// Stores the product C and, after its last entry, copies C[0] to the state of the iteration.
struct CountEntries : StoreEntry
{
  FEMGPU_HD
  void finish(StepState &state) const
  {
    state.first = C[0];
  }
};

/// Returns @p count columns of @p n random numbers.
/// @param stride distance between the columns, a multiple of 32
inline std::vector<double> random_columns(const int n, const int count, const std::size_t stride)
{
  std::mt19937 random(static_cast<unsigned int>(n + 31 * count));
  std::uniform_real_distribution<double> number(-1., 1.);
  std::vector<double> columns(stride * static_cast<std::size_t>(count), std::nan(""));
  for (int c = 0; c < count; ++c)
    for (int i = 0; i < n; ++i)
      columns[stride * static_cast<std::size_t>(c) + static_cast<std::size_t>(i)] = number(random);
  return columns;
}

template <class Backend>
void check_gram(const ExecutorPtr &executor, const int n, const int X_count, const int Y_count)
{
  SCOPED_TRACE(std::to_string(n) + ": " + std::to_string(X_count) + " x " +
               std::to_string(Y_count));
  const std::size_t stride = (static_cast<std::size_t>(n) + 31) / 32 * 32;
  const std::vector<double> columns = random_columns(n, X_count + Y_count, stride);
  Buffer<double> V(executor, columns.data(), columns.size());
  const Columns all{V.data(), stride, X_count + Y_count};
  const std::size_t n_entries =
      static_cast<std::size_t>(X_count) * static_cast<std::size_t>(Y_count);
  Buffer<double> C(executor, n_entries);
  GramMemory memory(executor, X_count * Y_count);
  Runner<Backend> runner(*executor);
  const auto step = gram(n, all.columns(0, X_count), all.columns(X_count, Y_count),
                         StoreEntry{C.data(), X_count}, memory);
  runner.run(step);
  const std::vector<double> result = C.to_host();
  for (int y = 0; y < Y_count; ++y)
    for (int x = 0; x < X_count; ++x) {
      double expected = 0.;
      for (int i = 0; i < n; ++i)
        expected +=
            columns[stride * static_cast<std::size_t>(x) + static_cast<std::size_t>(i)] *
            columns[stride * static_cast<std::size_t>(X_count + y) + static_cast<std::size_t>(i)];
      ASSERT_NEAR(result[static_cast<std::size_t>(y * X_count + x)], expected,
                  1e-15 * (n + 10. * std::sqrt(n)))
          << x << ", " << y;
    }
  runner.run(step);
  EXPECT_EQ(C.to_host(), result) << "not the same again";
}

template <class Backend>
void check_gram_of_edge_case_sizes(const ExecutorPtr &executor)
{
  for (const int n : {0, 1, 31, 32, 33, 1025, 100007})
    for (const int X_count : {1, 7, 8, 33})
      for (const int Y_count : {1, 9})
        check_gram<Backend>(executor, n, X_count, Y_count);
  for (const int X_count : {0, 1, 5, 64, 100, 200, 300})
    for (const int Y_count : {1, 2, 8, 17, 24, 30})
      check_gram<Backend>(executor, 1003, X_count, Y_count);
}

template <class Backend>
void check_gram_in_a_loop_that_has_ended(const ExecutorPtr &executor)
{
  const int n = 100;
  const std::vector<double> ones(128, 1.);
  Buffer<double> v(executor, ones.data(), ones.size());
  Buffer<double> C(executor, 1);
  C.fill_zero();
  GramMemory memory(executor, 1);
  const Columns V{v.data(), 128, 1};
  Iteration<Backend, StepState, StepSums> iteration(RowSpace(executor, n));
  const auto step = gram(n, V, V, CountEntries{{C.data(), 1}}, memory);
  StepState state;
  state.running = false;
  iteration.set_state(state);
  iteration.once(step);
  EXPECT_EQ(iteration.get_state().first, -1.);
  state.running = true;
  iteration.set_state(state);
  iteration.once(step);
  EXPECT_EQ(iteration.get_state().first, 100.);
}
} // namespace femgpu::linalg::test

#endif
