#ifndef femgpu_tests_linalg_step_checks_h
#define femgpu_tests_linalg_step_checks_h

#include "linalg/execution/this_backend.h"
#include "linalg/matrices/registry.h"
#include "linalg/memory/buffer.h"
#include "tests/linalg/test_matrices.h"

#include <gtest/gtest.h>

#include <cctype>
#include <numeric>
#include <string>
#include <vector>

/**
 * @file
 * Checks, on any backend, the properties of steps (kernels, linalg/steps/steps.h) that solvers rely
 * on: steps_test.cc runs the checks on the host, steps_cuda_test.cu on a CUDA device.
 */
namespace femgpu::linalg::test
{
/// Returns numbers of rows that are edge cases: 0, 1, sizes near a warp and near a chunk of the
/// host, and sizes of many chunks and thread blocks.
inline std::vector<int> edge_case_sizes()
{
  return {0, 1, 31, 32, 33, 1023, 1024, 1025, 100007, 1000003};
}

struct StepState : LoopState
{
  double first = -1., second = -1.;
  int pass = 0;
  int last_pass = 0;
};

struct StepSums
{
  double first, second;
};

/// The body of a kernel step that computes first += v_i and second += v_i².
struct AddUp
{
  const double *v;

  using Contributes = SumList<&StepSums::first, &StepSums::second>;
  FEMGPU_HD
  void operator()(const StepState & /* s */, const int i, StepSums &sums) const
  {
    sums.first += v[i];
    sums.second += v[i] * v[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(StepState &s, const StepSums &sums) const
  {
    s.first = sums.first;
    s.second = sums.second;
  }
};

/// The body of a kernel step that computes first += v_i, without an epilogue.
struct AddFirst
{
  const double *v;

  using Contributes = SumList<&StepSums::first>;
  FEMGPU_HD
  void operator()(const StepState & /* s */, const int i, StepSums &sums) const
  {
    sums.first += v[i];
  }
};

/// The body of a kernel step that computes second += v_i. The epilogue also reads the sum of
/// AddFirst.
struct AddSecondAndFinish
{
  const double *v;

  using Contributes = SumList<&StepSums::second>;
  FEMGPU_HD
  void operator()(const StepState & /* s */, const int i, StepSums &sums) const
  {
    sums.second += v[i];
  }

  using Completes = SumList<&StepSums::first, &StepSums::second>;
  FEMGPU_HD
  void finish(StepState &s, const StepSums &sums) const
  {
    s.first = sums.first;
    s.second = sums.second;
  }
};

/// The body of a kernel step that adds 1 to calls_i and the number of the pass to passes_i, without
/// sums.
struct CountCalls
{
  double *calls, *passes;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const StepState &s, const int i, StepSums & /* sums */) const
  {
    calls[i] += 1.;
    passes[i] += s.pass;
  }
};

/// The body CountCalls with an epilogue that ends the loop in the last pass.
struct CountCallsAndPasses : CountCalls
{
  using Completes = SumList<>;
  FEMGPU_HD
  void finish(StepState &s, const StepSums & /* sums */) const
  {
    if (++s.pass >= s.last_pass)
      s.running = false;
  }
};

/// The body of a kernel step with a product that computes result_i = (A v)_i, first += (A v)_i and
/// second += 1.
struct StoreProduct
{
  double *result;

  using Contributes = SumList<&StepSums::first, &StepSums::second>;
  FEMGPU_HD
  void operator()(const StepState & /* s */, const int i, const double Av_i, StepSums &sums) const
  {
    result[i] = Av_i;
    sums.first += Av_i;
    sums.second += 1.;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(StepState &s, const StepSums &sums) const
  {
    s.first = sums.first;
    s.second = sums.second;
  }
};

inline Buffer<double> buffer_of(const ExecutorPtr &executor, const std::vector<double> &v)
{
  return {executor, v.data(), v.size()};
}

template <class Backend>
StepState add_up(const ExecutorPtr &executor, const std::vector<double> &v)
{
  const Buffer<double> on_device = buffer_of(executor, v);
  const int n = static_cast<int>(v.size());
  Iteration<Backend, StepState, StepSums> iteration(RowSpace(executor, n));
  iteration.set_state({});
  iteration.once(rows(n, AddUp{on_device.data()}));
  return iteration.get_state();
}

inline bool same_bits(const StepState &a, const StepState &b)
{
  return a.first == b.first && a.second == b.second;
}

template <class Backend>
void check_sums_are_exact_on_integers(const ExecutorPtr &executor)
{
  for (const int n : edge_case_sizes()) {
    SCOPED_TRACE(std::to_string(n) + " rows");
    const std::vector<double> v = integer_vector(n, 1);
    const StepState state = add_up<Backend>(executor, v);
    EXPECT_EQ(state.first, std::accumulate(v.begin(), v.end(), 0.));
    EXPECT_EQ(state.second, std::inner_product(v.begin(), v.end(), v.begin(), 0.));
  }
}

template <class Backend>
void check_sums_are_bit_identical_on_repeats(const ExecutorPtr &executor)
{
  for (const int n : edge_case_sizes()) {
    const std::vector<double> v = random_vector(n, 2);
    const StepState once = add_up<Backend>(executor, v);
    for (int repeat = 0; repeat < 5; ++repeat)
      EXPECT_TRUE(same_bits(add_up<Backend>(executor, v), once)) << n << " rows";
  }
}

template <class Backend>
void check_epilogue_sees_sums_of_earlier_steps(const ExecutorPtr &executor)
{
  for (const int n : edge_case_sizes()) {
    SCOPED_TRACE(std::to_string(n) + " rows");
    const int fewer = n / 3;
    const std::vector<double> v = integer_vector(n, 3), w = integer_vector(fewer, 4);
    const Buffer<double> v_device = buffer_of(executor, v), w_device = buffer_of(executor, w);
    Iteration<Backend, StepState, StepSums> iteration(RowSpace(executor, n));
    iteration.set_state({});
    for (int repeat = 0; repeat < 2; ++repeat) { // the second run must start from zero sums
      iteration.once(rows(n, AddFirst{v_device.data()}),
                     rows(fewer, AddSecondAndFinish{w_device.data()}));
      const StepState state = iteration.get_state();
      EXPECT_EQ(state.first, std::accumulate(v.begin(), v.end(), 0.));
      EXPECT_EQ(state.second, std::accumulate(w.begin(), w.end(), 0.));
    }
  }
}

/// Two vectors of counts on the device, initially 0.
struct Counts
{
  Buffer<double> calls, passes;

  Counts(const ExecutorPtr &executor, const int n)
      : calls(executor, static_cast<std::size_t>(n)), passes(executor, static_cast<std::size_t>(n))
  {
    calls.fill_zero();
    passes.fill_zero();
  }

  CountCalls view()
  {
    return {calls.data(), passes.data()};
  }

  /// Checks that the body ran once for every row in each of the passes 0, 1, ..., n_passes - 1.
  void expect_passes(const int n_passes) const
  {
    const std::vector<double> expected_calls(calls.size(), n_passes);
    const std::vector<double> expected_passes(calls.size(), 0.5 * n_passes * (n_passes - 1));
    EXPECT_EQ(calls.to_host(), expected_calls);
    EXPECT_EQ(passes.to_host(), expected_passes);
  }
};

inline StepState ends_after(const int last_pass)
{
  StepState state;
  state.last_pass = last_pass;
  return state;
}

template <class Backend>
void check_repeat_ends_when_the_last_step_says_so(const ExecutorPtr &executor)
{
  for (const int n : {1, 33, 5000})
    for (const int last_pass : {1, 2, 7, 8, 9, 16, 100}) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(last_pass) + " passes");
      Counts before(executor, n), with_epilogue(executor, n);
      Iteration<Backend, StepState, StepSums> iteration(RowSpace(executor, n));
      iteration.set_state(ends_after(last_pass));
      iteration.repeat({}, rows(n, before.view()),
                       rows(n, CountCallsAndPasses{with_epilogue.view()}));
      EXPECT_EQ(iteration.get_state().pass, last_pass);
      EXPECT_FALSE(iteration.get_state().running);
      before.expect_passes(last_pass);
      with_epilogue.expect_passes(last_pass);
    }
}

template <class Backend>
void check_steps_after_the_end_of_the_loop_do_nothing(const ExecutorPtr &executor)
{
  for (const int n : {1, 33, 5000})
    for (const int last_pass : {1, 2, 7, 8, 9, 16, 100}) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(last_pass) + " passes");
      Counts with_epilogue(executor, n), after(executor, n);
      Iteration<Backend, StepState, StepSums> iteration(RowSpace(executor, n));
      iteration.set_state(ends_after(last_pass));
      iteration.repeat({}, rows(n, CountCallsAndPasses{with_epilogue.view()}),
                       rows(n, after.view()));
      with_epilogue.expect_passes(last_pass);
      // The step runs in passes 1, ..., last_pass - 1, as the state counts them after the epilogue.
      EXPECT_EQ(after.calls.to_host(),
                std::vector<double>(static_cast<std::size_t>(n), last_pass - 1));
    }
}

template <class Backend>
void check_repeat_does_nothing_unless_running(const ExecutorPtr &executor)
{
  Counts counts(executor, 100);
  Iteration<Backend, StepState, StepSums> iteration(RowSpace(executor, 100));
  StepState state = ends_after(3);
  state.running = false;
  iteration.set_state(state);
  iteration.repeat({}, rows(100, CountCallsAndPasses{counts.view()}));
  EXPECT_EQ(iteration.get_state().pass, 0);
  counts.expect_passes(0);
}

/// Checks that a product step multiplies @p A by an integer vector exactly, even after an update of
/// the values.
template <class Backend>
void check_product(const ExecutorPtr &executor, const HostMatrix &A, const std::string &format)
{
  CsrMatrix csr(executor, A.csr());
  const std::unique_ptr<Matrix> matrix = make_format(format, csr);
  EXPECT_EQ(matrix->n(), A.n);
  EXPECT_EQ(matrix->n_nonzeros(), A.columns.size());
  EXPECT_GE(matrix->n_stored(), A.columns.size());
  EXPECT_GE(matrix->bytes(), 4 * A.columns.size());
  const std::vector<double> v = integer_vector(A.n, 5);
  Buffer<double> v_device = buffer_of(executor, v);
  Buffer<double> result(executor, v.size());
  for (const HostMatrix &current : {A, with_integer_values(A, 99)}) {
    csr.update_values(current.values.data());
    matrix->update();
    Iteration<Backend, StepState, StepSums> iteration(RowSpace(executor, A.n));
    iteration.set_state({});
    iteration.once(product(*matrix, v_device.data(), StoreProduct{result.data()}));
    const std::vector<double> expected = multiply(current, v);
    EXPECT_EQ(result.to_host(), expected);
    EXPECT_EQ(iteration.get_state().first, std::accumulate(expected.begin(), expected.end(), 0.));
    EXPECT_EQ(iteration.get_state().second, A.n);
  }
}

/// Returns matrices with every kind of pattern and integer values.
inline std::vector<HostMatrix> edge_case_matrices()
{
  std::vector<HostMatrix> matrices = {
      laplacian_2d(37, 29),
      laplacian_3d(11, 7, 13),
      box_27(9, 10, 11),
      random_spd(501, 40, 6),
      arrow(1000),
      with_empty_rows(1000),
      diagonal({}),
      diagonal({3., -4., 5.}),
      random_dominant(700, 20, 3),
      convection_diffusion(31, 17, 3., -2.),
      random_spd(997, 240, 8)}; // rows as long as those of quadratic elements in 3D
  for (const int n : {0, 1, 31, 32, 33, 100007}) {
    matrices.push_back(laplacian_1d(n));
    matrices.push_back(with_empty_rows(n));
  }
  for (HostMatrix &A : matrices)
    A = with_integer_values(A, 7);
  return matrices;
}

/// Returns the formats that can store all of edge_case_matrices(), each with double and float
/// values.
inline std::vector<std::string> formats_for_all_matrices()
{
  std::vector<std::string> formats;
  for (const char *const format :
       {"csr", "ellpack-r max-padding=1000", "ellr-t max-padding=1000", "sell max-padding=1000",
        "sell slice=8 window=1 max-padding=1000", "sell slice=1 window=1000000", "bsr block=1",
        "bsr max-padding=1000", "bsell block=1 max-padding=1000", "bsell max-padding=1000",
        "bsell slice=4 window=16 max-padding=1000", "coo", "pcsr padding=1 prefetch=1",
        "pcsr max-padding=1000", "pcsr prefetch=4 padding=8 max-padding=1000",
        "pcsr prefetch=1 padding=4 max-padding=1000", "auto",
        "sell columns=short max-padding=1000"})
    for (const char *const values : {"", " values=float"})
      formats.push_back(std::string(format) + values);
  return formats;
}

/// Returns formats_for_all_matrices() and the formats that only GPUs support.
inline std::vector<std::string> cuda_formats()
{
  std::vector<std::string> formats = formats_for_all_matrices();
  for (const int threads : {1, 2, 4, 8, 16, 32})
    for (const char *const format :
         {"csr threads=", "ellr-t max-padding=1000 threads=", "bsr block=1 threads="})
      for (const char *const values : {"", " values=float"})
        formats.push_back(format + std::to_string(threads) + values);
  for (const char *const format : {"cusparse-csr", "cusparse-sell max-padding=1000",
                                   "cusparse-bsr max-padding=1000", "cusparse-bsr block=1"})
    for (const char *const values : {"", " values=float"})
      formats.push_back(std::string(format) + values);
  return formats;
}

/// Returns the formats that support short columns, each with double and float values.
inline std::vector<std::string> formats_with_short_columns()
{
  std::vector<std::string> formats;
  for (const char *const format :
       {"sell max-padding=100000", "sell slice=1", "sell slice=8 window=1 max-padding=100000",
        "sell slice=128 max-padding=100000"})
    for (const char *const values : {"", " values=float"})
      formats.push_back(std::string(format) + values);
  return formats;
}

/// Returns the name of a test whose parameter is a format.
inline std::string format_name(const testing::TestParamInfo<std::string> &info)
{
  std::string name = info.param;
  for (char &c : name)
    c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

/// Returns matrices whose column offsets fit into 16 bits in all, in some or in no slices.
inline std::vector<HostMatrix> narrow_and_wide_matrices()
{
  std::vector<HostMatrix> matrices = {
      diagonal({}),
      diagonal({3.}),
      laplacian_1d(33),
      box_27(9, 10, 11),
      with_empty_rows(100007),
      arrow(70001),                  // the first row is long, and all others reach the first column
      laplacian_3d(257, 257, 3),     // neighbours have column offsets of up to 66049
      random_dominant(150000, 6, 4), // arbitrary columns
      random_dominant(65536, 6, 5)};
  for (const int last : {13, 14, 15, 16}) // last + 1: near the largest number of ranges
    matrices.push_back(far_diagonal(170001, last));
  return matrices;
}

/// Returns A v for a random v, computed on the backend.
template <class Backend>
std::vector<double> product_of(const CsrMatrix &A, const std::string &format)
{
  const std::unique_ptr<Matrix> matrix = make_format(format, A);
  Buffer<double> v = buffer_of(A.executor(), random_vector(A.n(), 5));
  Buffer<double> result(A.executor(), v.size());
  Iteration<Backend, StepState, StepSums> iteration(*A.range());
  iteration.set_state({});
  iteration.once(product(*matrix, v.data(), StoreProduct{result.data()}));
  return result.to_host();
}

/// Checks that short columns and columns of 32 bits give bitwise equal products.
template <class Backend>
void check_short_columns(const ExecutorPtr &executor, const std::string &format)
{
  for (const HostMatrix &A : narrow_and_wide_matrices()) {
    SCOPED_TRACE(std::to_string(A.n) + " rows, " + std::to_string(A.columns.size()) + " entries");
    CsrMatrix csr(executor, A.csr());
    const std::vector<double> values = random_vector(static_cast<int>(A.columns.size()), 6);
    csr.update_values(values.data());
    EXPECT_TRUE(product_of<Backend>(csr, format + " columns=short") ==
                product_of<Backend>(csr, format));
  }
}

template <class Backend>
void check_products(const ExecutorPtr &executor, const std::string &format)
{
  for (const HostMatrix &A : edge_case_matrices()) {
    SCOPED_TRACE(std::to_string(A.n) + " rows, " + std::to_string(A.columns.size()) + " entries");
    check_product<Backend>(executor, A, format);
  }
}
} // namespace femgpu::linalg::test

#endif
