#include "solve/batch.h"

#include "linalg/linear_solver.h"
#include "linalg/mpi/communicators.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "solve/distributed_system.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>

namespace femgpu
{
namespace
{
/// Returns the indices of the systems for which met_request() is false.
std::vector<std::size_t> failures(const SolveCommand &command, const linalg::BatchReport &report)
{
  std::vector<std::size_t> numbers;
  for (std::size_t k = 0; k < report.systems.size(); ++k)
    if (!met_request(command, report.systems[k]))
      numbers.push_back(k);
  return numbers;
}

int iterations_of_all(const linalg::BatchReport &report)
{
  int sum = 0;
  for (const linalg::SystemReport &system : report.systems)
    sum += system.iterations;
  return sum;
}

/// Returns whether the right-hand sides are solved as a batch of independent systems. A batch is
/// the fastest way to solve small systems, but supports few methods. Otherwise all right-hand sides
/// share one matrix and one set-up.
bool is_solved_as_batch(const SolveCommand &command, const SystemToSolve &system,
                        const linalg::LinearSolverOptions &options)
{
  constexpr int max_rows = 4096; // that a thread block of a GPU can hold
  if (command.copies)
    return true;
  const linalg::SolverTraits &solver = linalg::solvers.traits(options.solver);
  return solver.supports_batch && !solver.supports_block && system.n <= max_rows &&
         linalg::preconditioners.traits(preconditioner_of(options)).is_fused &&
         options.format == "csr" && options.scaling == "none" && options.ordering == "none" &&
         options.control.execution != linalg::Execution::graph;
}

using SolveAll = std::function<linalg::BatchReport(const double *b, double *x)>;

SolveAll make_batch(const SystemToSolve &system, const linalg::ExecutorPtr &executor,
                    const linalg::LinearSolverOptions &options)
{
  const auto solver = std::make_shared<linalg::BatchSolver>(executor, options);
  solver->set_matrices(system.matrices());
  return [solver](const double *b, double *x) { return solver->solve(b, x); };
}

linalg::BatchReport report_of_columns(const std::vector<linalg::SolveReport> &columns)
{
  linalg::BatchReport report;
  for (const linalg::SolveReport &column : columns) {
    linalg::SystemReport &result = report.systems.emplace_back();
    static_cast<linalg::SolveResult &>(result) = column;
    if (column.outcome == linalg::Outcome::converged)
      result.message.clear();
    const linalg::SolveCosts &costs = column.costs;
    report.solve_seconds += costs.solve_seconds;
    report.transfer_seconds +=
        costs.transfer.waited_seconds() + costs.format_seconds + costs.setup_seconds;
    report.method = column.method;
  }
  return report;
}

/// Makes a function that solves all right-hand sides with one matrix.
SolveAll make_columns(const SystemToSolve &system, const linalg::ExecutorPtr &executor,
                      const linalg::LinearSolverOptions &options)
{
  const auto solver = std::make_shared<linalg::LinearSolver>(executor, options);
  solver->set_matrix(system.A.csr(), /* same pattern */ false);
  return [solver, n_columns = system.n_systems](const double *b, double *x) {
    return report_of_columns(solver->solve(b, x, n_columns));
  };
}

/// Makes the function of make_columns() for rows distributed over ranks; the first rank has all
/// right-hand sides and receives all solutions.
SolveAll make_distributed_columns(const SolveCommand &command, SystemToSolve &system,
                                  const linalg::ExecutorPtr &executor,
                                  linalg::LinearSolverOptions options, const Ranks &ranks)
{
  options.ordering = "none";
  const auto distribution =
      std::make_shared<DistributedSystem>(system, command.ordering, ranks.communicator());
  const auto solver = std::make_shared<linalg::LinearSolver>(
      executor, options,
      linalg::make_communicator(ranks.communicator(), executor, command.communicator));
  distribution->distribute();
  solver->set_matrix(distribution->matrix().csr(), /* same pattern */ false);
  return [=, n = system.x0.size(), n_columns = system.n_systems](const double *b, double *x) {
    const auto scatter = [&](const double *columns) {
      std::vector<double> own;
      for (int c = 0; c < n_columns; ++c, columns += n) {
        const std::vector<double> own_column = distribution->scatter({columns, columns + n});
        own.insert(own.end(), own_column.begin(), own_column.end());
      }
      return own;
    };
    const std::vector<double> own_b = scatter(b);
    std::vector<double> own_x = scatter(x);
    linalg::BatchReport report =
        report_of_columns(solver->solve(own_b.data(), own_x.data(), n_columns));
    const std::size_t own_n = own_x.size() / static_cast<std::size_t>(n_columns);
    for (int c = 0; c < n_columns; ++c) {
      const double *const own = own_x.data() + own_n * static_cast<std::size_t>(c);
      x = std::copy_n(distribution->gather({own, own + own_n}).begin(), n, x);
    }
    return report;
  };
}

/// Returns x₀ of all systems, concatenated.
std::vector<double> all_x0(const SystemToSolve &system)
{
  std::vector<double> x;
  for (int k = 0; k < system.n_systems; ++k)
    x.insert(x.end(), system.x0.begin(), system.x0.end());
  return x;
}
} // namespace

BatchRecord::Iterations BatchRecord::iterations() const
{
  Iterations result;
  if (report.systems.empty())
    return result;
  result.minimum = report.systems[0].iterations;
  for (const linalg::SystemReport &system : report.systems) {
    result.minimum = std::min(result.minimum, system.iterations);
    result.maximum = std::max(result.maximum, system.iterations);
    result.restarts += system.restarts;
  }
  result.mean =
      static_cast<double>(iterations_of_all(report)) / static_cast<double>(report.systems.size());
  return result;
}

double BatchRecord::systems_per_second() const
{
  const double seconds = median_seconds();
  return seconds > 0. ? static_cast<double>(report.systems.size()) / seconds : 0.;
}

linalg::Outcome outcome(const linalg::BatchReport &report)
{
  const auto failed =
      std::find_if(report.systems.begin(), report.systems.end(),
                   [](const linalg::SystemReport &system) { return !system.converged(); });
  return failed == report.systems.end() ? linalg::Outcome::converged : failed->outcome;
}

bool succeeded(const SolveCommand &command, const BatchRecord &record)
{
  return record.all_identical() && failures(command, record.report).empty();
}

std::string remark(const SolveCommand &command, const BatchRecord &record)
{
  if (!record.all_identical())
    return record.reproducibility_remark();
  const std::vector<std::size_t> numbers = failures(command, record.report);
  if (numbers.empty())
    return "";
  return std::to_string(numbers.size()) + " of " + std::to_string(record.report.systems.size()) +
         " systems failed, the first is number " + std::to_string(numbers[0] + 1) + ": " +
         record.report.systems[numbers[0]].message;
}

BatchRecord solve_batch_repeatedly(const SolveCommand &command, SystemToSolve &system,
                                   const linalg::ExecutorPtr &executor, const Ranks &ranks,
                                   Console &console)
{
  BatchRecord record;
  record.backend = executor->name();
  record.backend_description = executor->description();
  const linalg::LinearSolverOptions options =
      linear_solver_options(command, system.attempts.front(), system.format);
  console.begin_phase("setup");
  const SolveAll solve_all =
      ranks.is_parallel() ? make_distributed_columns(command, system, executor, options, ranks)
      : is_solved_as_batch(command, system, options) ? make_batch(system, executor, options)
                                                     : make_columns(system, executor, options);
  for (int k = 0; k < command.repeat; ++k) {
    console.begin_phase(command.repeat == 1 ? "solve" : "solve " + std::to_string(k + 1));
    std::vector<double> x = all_x0(system);
    linalg::BatchReport report = solve_all(system.all_b().data(), x.data());
    const Repeat repeat{iterations_of_all(report), outcome(report), report.solve_seconds,
                        report.transfer_seconds};
    if (k == 0)
      record.report = std::move(report);
    record.add(repeat, std::move(x));
  }
  record.peak_bytes = executor->peak_bytes();
  return record;
}
} // namespace femgpu
