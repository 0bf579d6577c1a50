#include "linalg/direct_fallback.h"

#include "linalg/direct/factors.h"
#include "linalg/execution/host/executor.h"
#include "linalg/linear_solver.h"
#include "linalg/solvers/registry.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace femgpu::linalg
{
std::string backend_for(const std::string &solver, const std::string &backend)
{
  return backend == "auto" && solvers.traits(solver).is_direct ? "host" : backend;
}

bool permits_fallback(const long long n)
{
  return n <= max_fallback_rows && has_umfpack();
}

SolveReport solve_direct(const ExecutorPtr &executor, const HostCsr &A, const double *const b,
                         double *const x, const SolveControl &control)
{
  const auto solve_on = [&](const ExecutorPtr &chosen) {
    LinearSolverOptions options;
    options.solver = "direct";
    options.control = control;
    LinearSolver solver(chosen, options);
    solver.set_matrix(A, false);
    return solver.solve(b, x);
  };
  if (executor->backend() != BackendKind::host) {
    const std::vector<double> guess(x, x + A.n);
    try {
      SolveReport report = solve_on(executor);
      if (report.converged())
        return report;
    }
    catch (const Error &) { // NOLINT(bugprone-empty-catch): cuDSS is missing or needs more memory
    }
    std::copy(guess.begin(), guess.end(), x);
  }
  return solve_on(std::make_shared<HostExecutor>());
}
} // namespace femgpu::linalg
