#include "linalg/nonlinear/semilinear_equation.h"

#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "linalg/nonlinear/branch_tracer.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/operators/csr_matrix.h"
#include "tests/linalg/on_backend.h"
#include "tests/linalg/test_matrices.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
constexpr int m = 17;

/// Bratu's problem on an interval of m nodes, restricted to the local rows of A.
struct BratuRows
{
  explicit BratuRows(const CsrMatrix &A, const double lambda)
      : w(A.domain()->make_vector()), b(A.domain()->make_vector()), x(A.domain()->make_vector()),
        equation(A, w, b, {ExponentialReaction{}, lambda})
  {
    const std::vector<double> weights(w.size(), 1. / ((m + 1.) * (m + 1.)));
    w.copy_from_host(weights.data());
    b.fill_zero();
    x.fill_zero();
  }

  Buffer<double> w, b, x;
  SemilinearEquation equation;
};

/// Calls @p f with the Laplacian of the interval on each of two ranks, and then on a single rank.
/// @return the results of rank 0, of rank 1 and of the single rank
template <class Result>
std::vector<Result> on_two_ranks_and_one(const std::function<Result(const CsrMatrix &)> &f)
{
  const HostMatrix global = laplacian_1d(m);
  const std::vector<LocalMatrix> matrices = cut_matrix(global, {0, 5, m});
  std::vector<Result> results(3);
  results[2] = f(CsrMatrix(make_executor("host"), global.csr()));
  run_on_ranks(2, [&](const int p, const auto &communicator) {
    const LocalMatrix &local = matrices[static_cast<std::size_t>(p)];
    const auto executor = std::make_shared<HostExecutor>(1);
    const auto range = std::make_shared<RowSpace>(executor, local.end - local.begin, communicator);
    results[static_cast<std::size_t>(p)] =
        f({range, std::make_shared<RowSpace>(*range, local.ghosts), local.rows.csr()});
  });
  return results;
}

TEST(SemilinearEquation, IsSolvedInParts)
{
  for (const std::string method : {"newton", "nlcg", "nlcg beta=polak-ribiere"})
    for (const std::string preconditioner : {"identity", "jacobi", "chebyshev"}) {
      SCOPED_TRACE(method + " with " + preconditioner);
      const auto reports = on_two_ranks_and_one<SolveReport>([&](const CsrMatrix &A) {
        BratuRows bratu(A, 2.);
        LinearSolverOptions linear;
        linear.solver = "cg";
        linear.preconditioner = preconditioner;
        const auto solver = make_nonlinear_method(method, linear, BackendKind::host);
        solver->setup(bratu.equation, /* same pattern */ false);
        return solver->solve(bratu.equation, bratu.x, {});
      });
      for (const SolveReport &report : reports) {
        EXPECT_TRUE(report.converged()) << report.message;
        EXPECT_EQ(report.iterations, reports[2].iterations);
        EXPECT_NEAR(report.rhs_norm, reports[2].rhs_norm, 1e-14);
      }
    }
}

TEST(SemilinearEquation, IsTracedInParts)
{
  const auto reports = on_two_ranks_and_one<ContinuationReport>([](const CsrMatrix &A) {
    BratuRows bratu(A, 0.);
    ContinuationOptions options;
    options.linear.preconditioner = "jacobi";
    options.targets = {2.};
    options.lambda_end = 3.;
    const auto corrector = make_branch_corrector(bratu.equation, {bratu.w, 1.}, options.linear);
    BranchTracer tracer(*corrector, options, bratu.equation.space(),
                        [](const BranchPoint & /* p */, BranchRecord & /* record */) {});
    return tracer.trace();
  });
  for (const ContinuationReport &report : reports) {
    EXPECT_TRUE(report.converged()) << report.message;
    ASSERT_EQ(report.records.size(), reports[2].records.size());
    ASSERT_GT(report.records.size(), 3U);
    EXPECT_EQ(report.records.back().lambda, 3.);
    for (std::size_t k = 0; k < report.records.size(); ++k)
      EXPECT_NEAR(report.records[k].lambda, reports[2].records[k].lambda, 1e-8) << k;
  }
}
} // namespace
} // namespace femgpu::linalg::test
