/**
 * @file
 * Checks the solvers on a GPU against the host and then times them: microseconds per iteration for
 * 2D and 3D systems of many sizes, compared with the time of a plain copy of as many bytes. Needs
 * no argument; see --help. On a GPU, no new system is started after two minutes.
 */
#include "benchmarks/measure.h"
#include "common/command_line_reader.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/execution/make_executor.h"
#include "linalg/matrices/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "solve/generators/registry.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
/// The solvers that are checked and timed. None of them breaks down in the timed iterations.
const std::vector<std::string> solvers = {"cg", "pipelined-cg", "chronopoulos-gear-cg"};

struct Options
{
  std::string help, csv;
  bool on_host = false;
};

Options parse(const int argc, const char *const *const argv)
{
  CommandLineReader reader(
      "femgpu_solver_check", "[OPTIONS]",
      "Checks the solvers on a GPU against the host and times them. Exits with "
      "3 if GPU and host disagree.",
      exit_code_help);
  Options options;
  reader.flag("--host", options.on_host,
              "Time the solvers on the cores of this host, for a few sizes; no checks");
  reader.option("--csv", "FILE", "Also write the timings to FILE", options.csv);
  options.help = reader.parse(argc, argv);
  return options;
}

// ------------------------------------------------------------------------------------------------
// Correctness
// ------------------------------------------------------------------------------------------------

struct Solved
{
  SolveReport report;
  std::vector<double> x;
};

Solved solve(const ExecutorPtr &executor, const HostMatrix &host_matrix, const std::string &solver,
             const std::string &preconditioner)
{
  const CsrMatrix A(executor, host_matrix.csr());
  const auto M = make_preconditioner(preconditioner, executor->backend());
  M->setup(A);
  const std::vector<double> host_b = right_hand_side(A.n());
  const Buffer<double> b(executor, host_b.data(), host_b.size());
  Buffer<double> x(executor, host_b.size());
  x.fill_zero();
  SolveControl control;
  control.relative_tolerance = 1e-12;
  SolveReport report = make_solver(solver, executor->backend())->solve(A, *M, b, x, control);
  return {std::move(report), x.to_host()};
}

double relative_difference(const std::vector<double> &a, const std::vector<double> &b)
{
  double difference = 0., largest = 0.;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = std::max(difference, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return difference / largest;
}

/// Checks that the GPU reproduces the solution and the iteration count of the host, and that a
/// second solve on the GPU gives the same bits. Prints one line.
bool check(const ExecutorPtr &gpu, const ExecutorPtr &host, const ModelProblem &problem,
           const std::string &solver, const std::string &preconditioner)
{
  const Solved on_host = solve(host, problem.A, solver, preconditioner);
  const Solved on_gpu = solve(gpu, problem.A, solver, preconditioner);
  const Solved again = solve(gpu, problem.A, solver, preconditioner);
  const double difference = relative_difference(on_gpu.x, on_host.x);
  const int iterations = on_host.report.iterations;
  const bool agree =
      on_host.report.converged() && on_gpu.report.converged() &&
      std::abs(on_gpu.report.iterations - iterations) <= std::max(1, iterations / 200) &&
      difference <= 1e-9;
  const bool repeats = again.x == on_gpu.x && again.report.history == on_gpu.report.history;
  std::printf("%-20s %8d  %-20s %-8s %6d %6d  %9.1e  %9.1e  %s%s\n", problem.name.c_str(),
              problem.A.n, solver.c_str(), preconditioner.c_str(), iterations,
              on_gpu.report.iterations, difference,
              on_gpu.report.true_residual / on_gpu.report.rhs_norm, agree ? "ok" : "WRONG",
              repeats ? "" : ", REPEAT DIFFERS");
  std::fflush(stdout);
  return agree && repeats;
}

bool check_all(const ExecutorPtr &gpu)
{
  const ExecutorPtr host = make_executor("host");
  std::printf("Relative tolerance 1e-12, against the host with %s\n"
              "%-20s %8s  %-20s %-8s %6s %6s  %9s  %9s\n",
              host->description().c_str(), "system", "n", "solver", "M", "host", "GPU", "max |dx|",
              "residual");
  bool good = true;
  for (const char *const system : {"poisson2d-5pt:1", "poisson2d-5pt:15", "poisson2d-5pt:63",
                                   "poisson2d-5pt:255", "poisson2d-5pt:511", "poisson3d-27pt:3",
                                   "poisson3d-27pt:8", "poisson3d-27pt:20", "poisson3d-27pt:50"}) {
    const ModelProblem problem = generate(system);
    for (const std::string &solver : solvers)
      for (const std::string preconditioner : {"identity", "jacobi"})
        // A large system takes seconds on the host, so it is solved with jacobi only.
        if (problem.A.n < 100000 || preconditioner == "jacobi")
          good = check(gpu, host, problem, solver, preconditioner) && good;
  }
  return good;
}

// ------------------------------------------------------------------------------------------------
// Speed
// ------------------------------------------------------------------------------------------------

/// One timed case and its result.
struct Timing
{
  std::string system, solver, format;
  int n = 0;
  std::size_t n_nonzeros = 0;
  std::string method; ///< matrix format that was requested
  int iterations = 0; ///< iterations of the longer of the two timed solves; the shorter has 30
  double microseconds = 0.;    ///< time per iteration
  double milliseconds_30 = 0.; ///< time of a whole solve of 30 iterations
  std::size_t bytes_per_iteration = 0;
  double fraction = 0.; ///< time to copy the counted bytes / time of an iteration
};

/// A system, with matrix format and preconditioner, whose solves are timed.
class TimedSolve
{
public:
  TimedSolve(const CsrMatrix &csr, const std::string &format)
      : executor(csr.executor()), A(make_format(format, csr)),
        M(make_preconditioner("jacobi", executor->backend())),
        x(executor, static_cast<std::size_t>(csr.n()))
  {
    const std::vector<double> host_b = right_hand_side(csr.n());
    b = Buffer<double>(executor, host_b.data(), host_b.size());
    M->setup(*A);
  }

  /// Returns the seconds of a solve from x = 0.
  /// @throws SolverError unless the solve takes exactly @p iterations iterations
  double seconds(const Solver &solver, const int iterations)
  {
    SolveControl control;
    control.relative_tolerance = 0.;
    control.max_iterations = iterations;
    x.fill_zero();
    executor->synchronize();
    Stopwatch watch;
    const SolveReport report = solver.solve(*A, *M, b, x, control);
    const double elapsed = watch.lap();
    if (report.iterations != iterations)
      throw SolverError("The timed solve did not take " + std::to_string(iterations) +
                        " iterations: " + report.message);
    bytes_per_iteration = report.method.bytes_per_iteration;
    return elapsed;
  }

  /// Returns the median time of @p repeats solves.
  double median_seconds(const Solver &solver, const int iterations, const int repeats)
  {
    std::vector<double> all(static_cast<std::size_t>(repeats));
    for (double &one : all)
      one = seconds(solver, iterations);
    return median(all);
  }

  Timing run(const std::string &solver_name, const double bandwidth)
  {
    const auto solver = make_solver(solver_name, executor->backend());
    seconds(*solver, 30); // warm-up
    const double estimate = seconds(*solver, 30);
    Timing timing;
    timing.iterations = estimate < 0.015 ? 150 : 80; // few enough that no residual stagnates
    const int repeats = estimate < 0.01 ? 10 : 5;
    const double short_solve = median_seconds(*solver, 30, repeats);
    const double long_solve = median_seconds(*solver, timing.iterations, repeats);
    const double iteration = (long_solve - short_solve) / (timing.iterations - 30);
    timing.solver = solver_name;
    timing.format = A->format();
    timing.n = A->n();
    timing.n_nonzeros = A->n_nonzeros();
    timing.microseconds = 1e6 * iteration;
    timing.milliseconds_30 = 1e3 * short_solve;
    timing.bytes_per_iteration = bytes_per_iteration;
    timing.fraction = static_cast<double>(bytes_per_iteration) / bandwidth / iteration;
    return timing;
  }

private:
  ExecutorPtr executor;
  std::unique_ptr<Matrix> A;
  std::unique_ptr<Preconditioner> M;
  Buffer<double> b, x;
  std::size_t bytes_per_iteration = 0;
};

std::vector<std::string> systems_to_time(const bool on_host)
{
  if (on_host)
    return {"poisson2d-p1:256", "poisson3d-7pt:100", "poisson3d-27pt:100", "elasticity3d-p1:23"};
  return {"poisson2d-p1:16",    "poisson2d-p1:256",   "poisson2d-p1:1024",
          "elasticity3d-p1:23", "elasticity3d-p1:47", "poisson3d-27pt:100",
          "poisson3d-7pt:144",  "poisson3d-27pt:200", "poisson3d-7pt:256"};
}

std::vector<std::string> formats_to_time(const bool on_host)
{
  if (on_host)
    return {"csr", "csr values=float", "ellpack-r", "sell", "bsr", "coo", "pcsr", "auto"};
  std::vector<std::string> formats = {"csr", "csr values=float"};
  for (const int threads : {1, 2, 4, 8, 16, 32})
    formats.push_back("csr threads=" + std::to_string(threads));
  for (const char *const format :
       {"ellpack-r", "ellr-t", "sell", "sell values=float", "bsr", "coo", "pcsr",
        "pcsr prefetch=4 padding=4", "cusparse-csr", "cusparse-sell", "cusparse-bsr", "auto"})
    formats.emplace_back(format);
  return formats;
}

/// Times all solvers with CSR and one solver with every format. Prints a line for each.
void time_system(const ExecutorPtr &executor, const ModelProblem &problem, const double bandwidth,
                 std::vector<Timing> &timings)
{
  const CsrMatrix csr(executor, problem.A.csr());
  const auto time = [&](const std::string &solver, const std::string &format) {
    try {
      Timing timing = TimedSolve(csr, format).run(solver, bandwidth);
      timing.system = problem.name;
      timing.method = format;
      std::printf("%-20s %8d  %-20s  %-26s %9.2f  %4.0f %%  %9.3f\n", problem.name.c_str(),
                  timing.n, solver.c_str(), format.c_str(), timing.microseconds,
                  100. * timing.fraction, timing.milliseconds_30);
      timings.push_back(timing);
      std::fflush(stdout);
    }
    catch (const ParameterError &error) {
      std::printf("%-20s %8d  %-20s  %-26s left out: %s\n", problem.name.c_str(), problem.A.n,
                  solver.c_str(), format.c_str(), error.what());
    }
  };
  for (const std::string &solver : solvers)
    if (solver != "pipelined-cg")
      time(solver, "csr");
  for (const std::string &format : formats_to_time(executor->backend() == BackendKind::host))
    time("pipelined-cg", format);
  std::fflush(stdout);
}

std::vector<Timing> time_all(const ExecutorPtr &executor, Stopwatch total)
{
  constexpr double time_limit = 120.; // seconds after which no new system is started
  const bool on_host = executor->backend() == BackendKind::host;
  const double bandwidth = copy_bandwidth(*executor);
  std::printf("\nCopy on %s (%s): %.0f GB/s, read and written; preconditioner jacobi\n"
              "%-20s %8s  %-20s  %-26s %9s  %6s  %9s\n",
              executor->name().c_str(), executor->description().c_str(), 1e-9 * bandwidth, "system",
              "n", "solver", "format", "us/iter", "of copy", "ms for 30");
  std::vector<Timing> timings;
  double elapsed = total.lap();
  for (const std::string &system : systems_to_time(on_host)) {
    if (!on_host && elapsed > time_limit) {
      std::printf("No further system is timed: %.0f s have passed.\n", elapsed);
      break;
    }
    time_system(executor, generate(system), bandwidth, timings);
    elapsed += total.lap();
  }
  std::printf("%.0f s in all\n", elapsed);
  return timings;
}

int run(const Options &options)
{
  Stopwatch total;
  const ExecutorPtr executor = make_executor(options.on_host ? "host" : "cuda");
  const bool good = options.on_host || check_all(executor);
  const std::vector<Timing> timings = time_all(executor, total);
  write_csv(options.csv,
            "device,system,n,n_nonzeros,solver,preconditioner,method,format,iterations,"
            "us_per_iteration,ms_for_30_iterations,bytes_per_iteration,fraction_of_copy",
            timings, [&](std::ostream &file, const Timing &t) {
              file << '"' << executor->description() << "\"," << t.system << ',' << t.n << ','
                   << t.n_nonzeros << ',' << t.solver << ",jacobi," << t.method << ",\"" << t.format
                   << "\"," << t.iterations << ',' << t.microseconds << ',' << t.milliseconds_30
                   << ',' << t.bytes_per_iteration << ',' << t.fraction;
            });
  if (!good)
    throw SolverError("GPU and host disagree, see WRONG or DIFFERS above.");
  return 0;
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(const int argc, const char *const *const argv)
{
  using namespace femgpu::linalg::benchmark;
  return run_program(argc, argv, parse, run);
}
