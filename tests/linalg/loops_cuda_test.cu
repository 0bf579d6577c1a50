#include "linalg/execution/make_executor.h"
#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"
#include "tests/linalg/on_backend.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
const CudaExecutor &as_cuda(const ExecutorPtr &executor)
{
  return static_cast<const CudaExecutor &>(*executor);
}

LinearSolverOptions as_graph(const std::string &solver, const std::string &preconditioner)
{
  LinearSolverOptions options = method(solver, preconditioner, 1e-8);
  options.control.execution = Execution::graph;
  return options;
}

/// A symmetric matrix and a right-hand side.
struct System
{
  HostMatrix A;
  std::vector<double> b;

  System(const int nx, const int ny, const double shift)
      : A(laplacian_2d(nx, ny)), b(random_vector(A.n, static_cast<unsigned int>(nx)))
  {
    for (int i = 0; i < A.n; ++i)
      for (int e = A.row_starts[i]; e < A.row_starts[i + 1]; ++e)
        A.values[e] += A.columns[e] == i ? shift : 0.;
  }
};

void expect_same_bits(const Solved &one, const Solved &other)
{
  EXPECT_EQ(one.report.outcome, Outcome::converged);
  EXPECT_EQ(one.report.method.execution, "graph");
  EXPECT_TRUE(have_same_bits(one.x, other.x));
  EXPECT_TRUE(have_same_bits(one.report.history, other.report.history));
}

/// Tests the executable CUDA graphs that an executor caches.
class CudaKeptGraphs : public testing::TestWithParam<std::tuple<std::string, std::string>>,
                       protected WithExecutor
{
protected:
  void SetUp() override
  {
    if (const std::string obstacle = start("cuda"); !obstacle.empty())
      GTEST_SKIP() << obstacle;
    if (as_cuda(executor).launches_stepwise())
      GTEST_SKIP() << "FEMGPU_CUDA_LOOPS=stepwise: there are no graphs";
    options = as_graph(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }

  int n_created() const
  {
    return as_cuda(executor).graphs().n_created();
  }
  /// Solves with an executor that has not run anything.
  Solved solve_uncached(const System &system) const
  {
    return solve(make_executor("cuda"), options, system.A, system.b);
  }

  LinearSolverOptions options;
};

TEST_P(CudaKeptGraphs, GiveTheSameBitsForNewValues)
{
  LinearSolver solver(executor, options);
  const System systems[] = {{37, 29, 0.}, {37, 29, 0.5}, {37, 29, 0.01}};
  int n_before = 0;
  for (const System &system : systems) {
    solver.set_matrix(system.A.csr(), n_before > 0);
    Solved solved{{}, std::vector<double>(system.b.size())};
    solved.report = solver.solve(system.b.data(), solved.x.data());
    expect_same_bits(solved, solve_uncached(system));
    if (n_before > 0)
      EXPECT_EQ(n_created(), n_before);
    n_before = n_created();
    EXPECT_GT(n_before, 0);
  }
}

TEST_P(CudaKeptGraphs, GiveTheSameBitsForOtherSystems)
{
  int n_before = 0;
  const std::vector<double> ballast = random_vector(100000, 1);
  for (const int nx : {37, 91, 20}) {
    const Buffer<double> elsewhere(executor, ballast.data(), 1000 * static_cast<std::size_t>(nx));
    const System system(nx, 29, 0.1);
    expect_same_bits(solve(executor, options, system.A, system.b), solve_uncached(system));
    if (n_before > 0)
      EXPECT_EQ(n_created(), n_before);
    n_before = n_created();
  }
}

TEST_P(CudaKeptGraphs, GiveTheSameBitsAfterOtherPreconditioners)
{
  const System system(37, 29, 0.1);
  const Solved fresh = solve_uncached(system);
  expect_same_bits(solve(executor, options, system.A, system.b), fresh);
  for (const char *const other : {"jacobi", "chebyshev degree=5", "fsai", "ic"})
    EXPECT_EQ(solve(executor, as_graph(options.solver, other), system.A, system.b).report.outcome,
              Outcome::converged);
  expect_same_bits(solve(executor, options, system.A, system.b), fresh);
}

INSTANTIATE_TEST_SUITE_P(
    Methods, CudaKeptGraphs,
    testing::Combine(testing::Values(std::string("cg"), std::string("bicgstab"),
                                     std::string("gmres restart=20"), std::string("idr")),
                     testing::Values(std::string("jacobi"), std::string("chebyshev degree=4"),
                                     std::string("ic"))),
    words);

struct NestedState : LoopState
{
  int outer_passes = 0, outer_end = 0;
  int inner_passes = 0, inner_end = 0;
};

struct NestedSums
{
  double unused;
};

/// The body of a kernel step whose epilogue decides whether the inner loop runs at all.
struct BeginInner
{
  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const NestedState & /* s */, const int /* i */, NestedSums & /* sums */) const
  {}
  using Completes = SumList<>;
  FEMGPU_HD
  void finish(NestedState &s, const NestedSums & /* sums */) const
  {
    s.inner_passes = 0;
    s.inner = s.inner_end > 0;
  }
};

/// The body of a kernel step that computes calls_i += 1.
struct CountInner
{
  double *calls;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const NestedState & /* s */, const int i, NestedSums & /* sums */) const
  {
    calls[i] += 1.;
  }
  using Completes = SumList<>;
  FEMGPU_HD
  void finish(NestedState &s, const NestedSums & /* sums */) const
  {
    s.inner = ++s.inner_passes < s.inner_end;
  }
};

struct EndOuter : BeginInner
{
  FEMGPU_HD
  void finish(NestedState &s, const NestedSums & /* sums */) const
  {
    s.running = ++s.outer_passes < s.outer_end;
  }
};

class CudaLoops : public OnCuda
{};

TEST_F(CudaLoops, WithinLoopsAreKeptToo)
{
  constexpr int n = 1000;
  std::vector<Buffer<double>> all_calls; // keeps all buffers, so that their addresses differ
  for (const auto &[outer, inner] : {std::pair(3, 2), std::pair(11, 5), std::pair(4, 0)}) {
    all_calls.emplace_back(executor, n);
    Buffer<double> &calls = all_calls.back();
    calls.fill_zero();
    Iteration<CudaBackend, NestedState, NestedSums> iteration(RowSpace(executor, n));
    NestedState state;
    state.outer_end = outer;
    state.inner_end = inner;
    iteration.set_state(state);
    iteration.repeat({}, rows(n, BeginInner()), inner_loop(rows(n, CountInner{calls.data()})),
                     rows(n, EndOuter()));
    EXPECT_EQ(iteration.get_state().outer_passes, outer);
    EXPECT_EQ(calls.to_host(), std::vector<double>(n, outer * inner));
  }
  if (!as_cuda(executor).launches_stepwise())
    EXPECT_EQ(as_cuda(executor).graphs().n_created(), 1);
}

/// An operator whose product waits for the device, like the product of a streamed or distributed
/// matrix.
class WaitingOperator final : public ViewedOperator<CsrView<double>>
{
public:
  explicit WaitingOperator(const CsrMatrix &A) : ViewedOperator(A.range(), A.domain()), A(A)
  {}
  View view() const override
  {
    return A.csr_view();
  }
  const double *prepare(StepRunner & /* runner */, double *v) const override
  {
    executor()->synchronize();
    return v;
  }
  bool is_capturable() const override
  {
    return false;
  }

private:
  const CsrMatrix &A;
};

struct PowerState : LoopState
{
  int passes = 0;
  double vv = 0.;
};

struct PowerSums
{
  double vv;
};

/// The body of a kernel step that computes w = A v and (w, w).
struct Multiply
{
  double *w;

  using Contributes = SumList<&PowerSums::vv>;
  FEMGPU_HD
  void operator()(const PowerState & /* s */, const int i, const double Av_i, PowerSums &sums) const
  {
    w[i] = Av_i;
    sums.vv += Av_i * Av_i;
  }
  using Completes = Contributes;
  FEMGPU_HD
  void finish(PowerState &s, const PowerSums &sums) const
  {
    s.vv = sums.vv;
  }
};

/// The body of a kernel step that computes v = w / |w|.
struct Normalise
{
  double *v;
  const double *w;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const PowerState &s, const int i, PowerSums & /* sums */) const
  {
    v[i] = w[i] / sqrt(s.vv);
  }
  using Completes = SumList<>;
  FEMGPU_HD
  void finish(PowerState &s, const PowerSums & /* sums */) const
  {
    s.running = ++s.passes < 20;
  }
};

/// Runs 20 steps of the power method with @p A.
/// @return the vector, and how the loop was executed: "graph" or "driven by the host"
template <class Operator>
std::pair<std::vector<double>, std::string> iterate_powers(const Operator &A)
{
  const int n = A.n();
  const std::vector<double> start = random_vector(n, 3);
  Buffer<double> v(A.executor(), start.data(), start.size()), w(A.executor(), start.size());
  Iteration<CudaBackend, PowerState, PowerSums> iteration(*A.range());
  iteration.set_state({});
  iteration.repeat({}, product(A, v.data(), Multiply{w.data()}),
                   rows(n, Normalise{v.data(), w.data()}));
  EXPECT_EQ(iteration.get_state().passes, 20);
  return {v.to_host(), iteration.execution()};
}

TEST_F(CudaLoops, WithWhatCannotBeCapturedAreDrivenByTheHost)
{
  const CsrMatrix A(executor, laplacian_2d(91, 43).csr());
  const auto [captured, as_graph] = iterate_powers(A);
  const auto [launched, by_host] = iterate_powers(WaitingOperator(A));
  EXPECT_EQ(by_host, "driven by the host");
  if (!as_cuda(executor).launches_stepwise())
    EXPECT_EQ(as_graph, "graph");
  EXPECT_TRUE(have_same_bits(captured, launched));
}

/// An operator that runs out of memory while it prepares a product.
class FailingOperator final : public ViewedOperator<CsrView<double>>
{
public:
  explicit FailingOperator(const CsrMatrix &A) : ViewedOperator(A.range(), A.domain()), A(A)
  {}
  View view() const override
  {
    return A.csr_view();
  }
  const double *prepare(StepRunner & /* runner */, double * /* v */) const override
  {
    throw DeviceError("no memory in the body of a loop");
  }

private:
  const CsrMatrix &A;
};

TEST_F(CudaLoops, ThatFailWhileTheyAreCapturedLeaveTheStreamsReady)
{
  const CsrMatrix A(executor, laplacian_2d(91, 43).csr());
  const auto before = iterate_powers(A);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const std::string text = text_of<DeviceError>([&] { iterate_powers(FailingOperator(A)); });
    EXPECT_EQ(text, "no memory in the body of a loop");
    const auto after = iterate_powers(A);
    EXPECT_EQ(after.second, before.second);
    EXPECT_TRUE(have_same_bits(after.first, before.first));
  }
}

TEST_F(CudaLoops, OfManyStepsAreDrivenByTheHost)
{
  const System system(40, 40, 0.);
  const LinearSolverOptions options = as_graph("gmres restart=100 orthogonalisation=mgs", "jacobi");
  const Solved solved = solve(executor, options, system.A, system.b);
  EXPECT_EQ(solved.report.outcome, Outcome::converged);
  EXPECT_EQ(solved.report.method.execution, "driven by the host");
  EXPECT_EQ(as_cuda(executor).graphs().n_created(), 0);
}

TEST_F(CudaLoops, OfTwoDevicesRunInOneThread)
{
  if (n_cuda_devices() < 2)
    GTEST_SKIP() << "there is one device";
  const ExecutorPtr other = make_executor("cuda:1");
  const System system(91, 43, 0.1);
  for (const Execution how : {Execution::automatic, Execution::graph})
    for (const char *const solver : {"pipelined-cg", "gmres"}) {
      LinearSolverOptions options = as_graph(solver, "jacobi");
      options.control.execution = how;
      const Solved reference = solve(executor, options, system.A, system.b);
      for (const ExecutorPtr &device : {other, executor})
        EXPECT_TRUE(have_same_bits(solve(device, options, system.A, system.b).x, reference.x));
    }
}
} // namespace
} // namespace femgpu::linalg::test
