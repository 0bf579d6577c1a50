#include "linalg/solvers/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>

namespace femgpu::linalg::test
{
namespace
{
/// Small model problems of all kinds.
const std::vector<std::string> &problems()
{
  static const std::vector<std::string> names = {"poisson2d-p1:24",
                                                 "poisson3d-7pt:8",
                                                 "poisson3d-27pt:6",
                                                 "elasticity3d-p1:4",
                                                 "anisotropic2d:24,0.001",
                                                 "convection-diffusion2d:32,1",
                                                 "convection-diffusion2d:32,20",
                                                 "convection-diffusion2d:64,200",
                                                 "convection-diffusion3d:10,100",
                                                 "circuit:300"};
  return names;
}

class BestIterateTest : public OnBackendWithSolver
{};

TEST_P(BestIterateTest, ResidualAtTheEndIsAtMostThatAtTheStart)
{
  if (solvers.traits(solver).is_direct && executor->backend() == BackendKind::cuda)
    GTEST_SKIP() << "DirectTest has such tests, if cuDSS is found";
  for (const std::string &name : problems()) {
    const ModelProblem problem = generate(name);
    const std::vector<double> zero(problem.b.size()), guess = random_vector(problem.A.n, 5);
    for (const char *const M : preconditioners)
      for (const std::vector<double> &x0 : {zero, guess})
        for (const int limit : {3, 300}) {
          LinearSolverOptions options = method(solver, M, 1e-12);
          options.control.max_iterations = limit;
          const auto [report, x] = run(options, problem.A, problem.b, x0);
          SCOPED_TRACE(name + ", " + M + ", " + std::to_string(limit) + ": " + report.message);
          const double at_start = residual_norm(problem.A, problem.b, x0);
          const double at_end = residual_norm(problem.A, problem.b, x);
          EXPECT_LE(at_end, (1. + 1e-10) * at_start);
          EXPECT_NEAR(report.true_residual, at_end, 1e-8 * at_start);
        }
  }
}

std::vector<std::string> all_solvers()
{
  std::vector<std::string> names;
  for (const auto &entry : solvers)
    if (entry.traits.preconditioner == nullptr) // the solver accepts all preconditioners
      names.push_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, BestIterateTest,
                         testing::Combine(backends(), testing::ValuesIn(all_solvers())), words);
} // namespace
} // namespace femgpu::linalg::test
