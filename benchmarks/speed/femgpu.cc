#include "benchmarks/speed/candidate.h"
#include "linalg/base/error.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"

#include <algorithm>

namespace femgpu::linalg::benchmark
{
namespace
{
class Femgpu final : public Candidate
{
public:
  Femgpu(const CsrMatrix &csr, const std::vector<double> &host_b, const std::string &solver_text,
         const std::string &preconditioner, const std::string &format, const Execution execution)
      : executor(csr.executor()), A(make_format(format, csr)),
        M(make_preconditioner(preconditioner, executor->backend())),
        solver(make_solver(solver_text, executor->backend())),
        may_restart(method_of(solver_text) == "gmres"), execution(execution),
        b(executor, host_b.data(), host_b.size()), x(executor, host_b.size())
  {
    M->setup(*A);
  }

  std::string remarks() const override
  {
    return execution_report.empty() ? A->format() : execution_report + "; " + A->format();
  }
  void reset() override
  {
    x.fill_zero();
    executor->synchronize();
  }
  ReportedResult solve(const int iterations) override
  {
    SolveControl control;
    control.relative_tolerance = 0.;
    control.max_iterations = iterations;
    control.execution = execution;
    const SolveReport report = solver->solve(*A, *M, b, x, control);
    if (report.outcome != Outcome::iteration_limit)
      throw SolverError(report.message);
    // A restart is expected in two cases: if A is stored in lower precision, a restart refines the
    // solution; in GMRES, a restart begins the next cycle. Any other restart means that the
    // residual cannot decrease further.
    const bool is_rounded = A->value_precision() > csr_precision();
    if (report.restarts > 0 && !is_rounded && !may_restart)
      throw SolverError("the solver restarted after a breakdown");
    execution_report = report.method.execution;
    return {report.iterations, report.true_residual / report.rhs_norm};
  }
  std::vector<double> solution() const override
  {
    return x.to_host();
  }

private:
  double csr_precision() const
  {
    return A->csr().value_precision();
  }

  ExecutorPtr executor;
  std::unique_ptr<Matrix> A;
  std::unique_ptr<Preconditioner> M;
  std::unique_ptr<Solver> solver;
  bool may_restart;
  Execution execution;
  std::string execution_report;
  Buffer<double> b, x;
};
bool has_solver(const std::string &name)
{
  return std::any_of(solvers.begin(), solvers.end(),
                     [&](const auto &entry) { return entry.name == name; });
}
} // namespace

void add_femgpu(CandidateSpecs &specs, const CsrMatrix &A, const std::vector<double> &b,
                const std::vector<std::string> &methods, const std::vector<std::string> &formats,
                const std::vector<std::string> &executions)
{
  for (const std::string &method : methods) {
    const std::string name = "pipelined-" + method;
    if (!has_solver(name))
      continue;
    const bool is_gmres = method == "gmres";
    const std::string restart = std::to_string(gmres_restart);
    const std::string solver = is_gmres ? name + " restart=" + restart : name;
    const std::string shown = is_gmres ? name + "(" + restart + ")" : name;
    const std::string M = is_gmres ? "identity" : "jacobi";
    for (const std::string &format : formats)
      for (const std::string &word : executions) {
        const Execution execution = execution_of(word);
        const std::string variant = format + (word == "auto" ? "" : ", " + word);
        specs.push_back({"femgpu", variant, shown, M, ResidualNorm::euclidean,
                         [&A, &b, solver, M, format, execution] {
                           return std::make_unique<Femgpu>(A, b, solver, M, format, execution);
                         }});
      }
  }
}
} // namespace femgpu::linalg::benchmark
