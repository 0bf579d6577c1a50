#include "benchmarks/speed/contender.h"
#include "linalg/base/error.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg::benchmark
{
namespace
{
class Femgpu final : public Contender
{
public:
  Femgpu(const CsrMatrix &csr, const std::vector<double> &host_b, const std::string &solver_name,
         const std::string &format, const Execution execution)
      : executor(csr.executor()), A(make_format(format, csr)),
        M(make_preconditioner("jacobi", executor->backend())),
        solver(make_solver(solver_name, executor->backend())), execution(execution),
        b(executor, host_b.data(), host_b.size()), x(executor, host_b.size())
  {
    M->setup(*A);
  }

  std::string remarks() const override
  {
    return how_it_ran.empty() ? A->format() : how_it_ran + "; " + A->format();
  }
  void reset() override
  {
    x.fill_zero();
    executor->synchronize();
  }
  Claim solve(const int iterations) override
  {
    SolveControl control;
    control.relative_tolerance = 0.;
    control.max_iterations = iterations;
    control.execution = execution;
    const SolveReport report = solver->solve(*A, *M, b, x, control);
    if (report.outcome != Outcome::iteration_limit)
      throw SolverError(report.message);
    // Refining rounded values is what restarts are for; else they say that nothing is left to do.
    const bool is_rounded = A->value_precision() > csr_precision();
    if (report.restarts > 0 && !is_rounded)
      throw SolverError("started again after a breakdown");
    how_it_ran = report.execution;
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
  Execution execution;
  std::string how_it_ran;
  Buffer<double> b, x;
};
} // namespace

void add_femgpu(Entrants &entrants, const CsrMatrix &A, const std::vector<double> &b,
                const std::vector<std::string> &formats, const std::vector<std::string> &executions)
{
  for (const char *const solver : {"pipelined-cg", "pipelined-bicgstab"})
    for (const std::string &format : formats)
      for (const std::string &word : executions) {
        const Execution execution = execution_of(word);
        const std::string variant = format + (word == "auto" ? "" : ", " + word);
        entrants.push_back({"femgpu", variant, solver, "jacobi", ResidualNorm::euclidean,
                            [&A, &b, solver, format, execution] {
                              return std::make_unique<Femgpu>(A, b, solver, format, execution);
                            }});
      }
}
} // namespace femgpu::linalg::benchmark
