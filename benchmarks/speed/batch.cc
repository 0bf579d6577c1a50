/**
 * @file
 * Times the solution of many small systems, as a batch and one after the other. On one H100, the
 * batch should be 20 times faster for a thousand systems of 961 rows.
 */
#include "benchmarks/measure.h"
#include "benchmarks/speed/measurement.h"
#include "benchmarks/speed/systems.h"
#include "common/command_line_reader.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/batch_solver.h"
#include "linalg/execution/make_executor.h"
#include "linalg/linear_solver.h"
#include "solve/generators/varied_systems.h"

#include "femgpu_version.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace femgpu::linalg::benchmark
{
namespace
{
struct Options
{
  std::string help, csv;
  int largest = 3969, count = 1000, n_solves = 5;
  bool on_host = false;
};

Options parse(const int argc, const char *const *const argv)
{
  Options options;
  CommandLineReader reader(
      "femgpu_batch_speed", "[OPTIONS]",
      "Times the solution of many systems, as a batch and one after the other.", exit_code_help);
  reader.option("--largest", "N", "Only systems with at most N unknowns; default: 3969",
                options.largest);
  reader.option("--systems", "K", "Number of systems of each size; default: 1000", options.count);
  reader.option("--solves", "N", "Timed solves of each kind; default: 5", options.n_solves);
  reader.option("--csv", "FILE", "Write all results to FILE", options.csv);
  reader.flag("--host", options.on_host, "Run on the cores of this host, even if there is a GPU");
  options.help = reader.parse(argc, argv);
  return options;
}

/// The criterion that ends the solves: a number of iterations or a tolerance.
struct StoppingCriterion
{
  const char *name;
  int iterations; ///< fixed number of iterations; 0: stop at the tolerance
  double relative_tolerance;

  LinearSolverOptions options(const std::string &solver) const
  {
    LinearSolverOptions options;
    options.solver = solver;
    options.control.relative_tolerance = relative_tolerance;
    if (iterations > 0)
      options.control.max_iterations = iterations;
    return options;
  }
};

/// The result of one way of solving all systems.
struct TimedRuns
{
  double solve_seconds = 0.; ///< median time with all data on the device
  double wall_seconds = 0.;  ///< median time including copies of b from and x to host memory
  long long iterations = 0;  ///< sum over all systems
  std::vector<int> iterations_of;
  std::vector<double> residuals; ///< relative residuals that the solver reports
  std::vector<double> x;
  bool is_reproducible = true;
  std::string remarks;
};

/// Repeats @p solve and returns the medians of the times.
/// @param solve function that solves all systems once from x = 0, sets x and the reported values,
///   and returns the seconds of the solves
TimedRuns time_runs(const int n_solves, const std::size_t n_rows,
                    const std::function<double(TimedRuns &)> &solve)
{
  TimedRuns result;
  std::vector<double> seconds, walls;
  for (int k = 0; k <= n_solves; ++k) {
    TimedRuns current;
    current.x.assign(n_rows, 0.);
    const Stopwatch watch;
    const double elapsed = solve(current);
    const double wall = watch.elapsed();
    if (k == 0) { // warm-up
      result = std::move(current);
      continue;
    }
    seconds.push_back(elapsed);
    walls.push_back(wall);
    result.is_reproducible = result.is_reproducible && current.x == result.x;
  }
  result.solve_seconds = median(seconds);
  result.wall_seconds = median(walls);
  for (const int of_system : result.iterations_of)
    result.iterations += of_system;
  return result;
}

TimedRuns solve_batched(const ExecutorPtr &executor, const LinearSolverOptions &options,
                        const VariedSystems &systems, const int n_solves)
{
  BatchSolver solver(executor, options);
  solver.set_matrices(systems.matrices);
  return time_runs(n_solves, systems.b.size(), [&](TimedRuns &current) {
    const BatchReport report = solver.solve(systems.b.data(), current.x.data());
    for (const SystemReport &system : report.systems) {
      current.iterations_of.push_back(system.iterations);
      current.residuals.push_back(system.relative_residual());
    }
    current.remarks = report.method.execution;
    return report.solve_seconds;
  });
}

TimedRuns solve_individually(const ExecutorPtr &executor, const LinearSolverOptions &options,
                             const VariedSystems &systems, const int n_solves)
{
  std::vector<std::unique_ptr<LinearSolver>> solvers;
  for (const HostCsr &A : systems.matrices) {
    solvers.push_back(std::make_unique<LinearSolver>(executor, options));
    solvers.back()->set_matrix(A, /* same pattern */ false);
  }
  return time_runs(n_solves, systems.b.size(), [&](TimedRuns &current) {
    double seconds = 0.;
    std::size_t first = 0;
    for (std::size_t k = 0; k < solvers.size(); ++k) {
      const SolveReport report =
          solvers[k]->solve(systems.b.data() + first, current.x.data() + first);
      first += static_cast<std::size_t>(systems.matrices[k].n);
      current.iterations_of.push_back(report.iterations);
      current.residuals.push_back(report.true_residual / report.rhs_norm);
      current.remarks = report.method.execution;
      seconds += report.costs.solve_seconds;
    }
    return seconds;
  });
}

/// Returns ‖b − A x‖ / ‖b‖ of each system, computed on the host.
std::vector<double> true_residuals(const SpeedSystem &original, const VariedSystems &systems,
                                   const std::vector<double> &x)
{
  std::vector<double> residuals;
  SpeedSystem system = original;
  const auto n = static_cast<std::ptrdiff_t>(original.b.size());
  for (std::size_t k = 0; k < systems.matrices.size(); ++k) {
    const HostCsr &A = systems.matrices[k];
    const auto first = static_cast<std::ptrdiff_t>(k) * n;
    system.A.values.assign(A.values, A.values + A.n_nonzeros);
    system.b.assign(systems.b.begin() + first, systems.b.begin() + first + n);
    residuals.push_back(relative_residual(system, {x.begin() + first, x.begin() + first + n},
                                          ResidualNorm::euclidean));
  }
  return residuals;
}

/// Returns "ok" or a description of the error in the solutions of @p batch.
/// @param truth true relative residuals of the batch
/// @param worst receives the largest residual in @p truth
std::string verdict(const TimedRuns &batch, const TimedRuns &single,
                    const std::vector<double> &truth, const StoppingCriterion &end, double &worst)
{
  worst = 0.;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    const std::string name = "wrong: system " + std::to_string(k);
    worst = std::fmax(worst, truth[k]);
    if (!(std::abs(batch.residuals[k] - truth[k]) <= 1e-3 * truth[k] + 1e-10))
      return name + ": the reported residual is not the true residual";
    if (end.iterations > 0 ? batch.iterations_of[k] != end.iterations
                           : !(truth[k] <= 1.0001 * end.relative_tolerance))
      return name + " did not reach the tolerance or the number of iterations";
    // BiCGStab is sensitive to the order of summation.
    if (std::abs(batch.iterations_of[k] - single.iterations_of[k]) >
        2 + single.iterations_of[k] / 4)
      return name + " takes a different number of iterations in the batch than alone";
  }
  return batch.is_reproducible ? "ok" : "wrong: repeated solves give different bits";
}

class Table
{
public:
  Table(const std::string &file, std::string device) : device(std::move(device))
  {
    if (!file.empty())
      csv.open(file);
    csv << "device,git_revision,system,n,systems,solver,end,single_us_per_iteration,"
           "batch_us_per_iteration,single_seconds,batch_seconds,single_wall_seconds,"
           "batch_wall_seconds,ratio,systems_per_second,worst_residual,verdict,remarks\n";
    std::printf("%s, femgpu %s\n%-4s %5s %7s  %-18s %-14s %11s %11s %7s %7s %11s  %s\n",
                this->device.c_str(), version::git_revision, "", "n", "systems", "solver", "end",
                "single us", "batch us", "ratio", "wall", "systems/s", "worst residual, verdict");
  }

  void add(const SpeedSystem &system, const std::string &solver, const StoppingCriterion &end,
           const TimedRuns &single, const TimedRuns &batch, const double worst,
           const std::string &verdict)
  {
    const double us_single = 1e6 * single.solve_seconds / static_cast<double>(single.iterations);
    const double us_batch = 1e6 * batch.solve_seconds / static_cast<double>(batch.iterations);
    const auto count = static_cast<double>(batch.iterations_of.size());
    const double ratio = single.solve_seconds / batch.solve_seconds;
    std::printf("%-4s %5d %7.0f  %-18s %-14s %11.3f %11.4f %7.1f %7.1f %11.0f  %.2e %s; %s\n",
                system.family.c_str(), system.A.n, count, solver.c_str(), end.name, us_single,
                us_batch, ratio, single.wall_seconds / batch.wall_seconds,
                count / batch.solve_seconds, worst, verdict.c_str(), batch.remarks.c_str());
    std::fflush(stdout);
    std::ostringstream line;
    line << '"' << device << "\"," << version::git_revision << ',' << system.family << ','
         << system.A.n << ',' << count << ',' << solver << ',' << end.name << ',' << us_single
         << ',' << us_batch << ',' << single.solve_seconds << ',' << batch.solve_seconds << ','
         << single.wall_seconds << ',' << batch.wall_seconds << ',' << ratio << ','
         << count / batch.solve_seconds << ',' << worst << ",\"" << verdict << "\",\""
         << batch.remarks << "\"\n";
    csv << line.str() << std::flush;
  }

private:
  std::string device;
  std::ofstream csv;
};

int run(const Options &options)
{
  const ExecutorPtr executor = make_executor(options.on_host ? "host" : "cuda");
  Table table(options.csv, (options.on_host ? "host, " : "") + executor->description());
  int n_bad = 0;
  for (const TableSystem &line : choose_systems({"p2d", "e3d"}, 1, options.largest)) {
    const SpeedSystem system = make_system(line);
    const VariedSystems systems(system.A.csr(), system.b, options.count);
    for (const char *const solver : {"pipelined-cg", "pipelined-bicgstab"})
      for (const StoppingCriterion &end :
           {StoppingCriterion{"30 iterations", 30, 0.}, StoppingCriterion{"1e-8", 0, 1e-8}}) {
        const LinearSolverOptions how = end.options(solver);
        const TimedRuns single = solve_individually(executor, how, systems, options.n_solves);
        const TimedRuns batch = solve_batched(executor, how, systems, options.n_solves);
        double worst = 0.;
        const std::vector<double> truth = true_residuals(system, systems, batch.x);
        const std::string verdict_text = verdict(batch, single, truth, end, worst);
        n_bad += verdict_text == "ok" ? 0 : 1;
        table.add(system, solver, end, single, batch, worst, verdict_text);
      }
  }
  if (n_bad > 0)
    throw SolverError(std::to_string(n_bad) + " were wrong, see above.");
  return 0;
}
} // namespace
} // namespace femgpu::linalg::benchmark

int main(const int argc, const char *const *const argv)
{
  using namespace femgpu::linalg::benchmark;
  return run_program(argc, argv, parse, run);
}
