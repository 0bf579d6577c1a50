#include "solve/batch.h"

#include <algorithm>

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

BatchRecord solve_batch_repeatedly(const SolveCommand &command, const SystemToSolve &system,
                                   const linalg::ExecutorPtr &executor, Console &console)
{
  BatchRecord record;
  record.backend = executor->name();
  record.backend_description = executor->description();
  linalg::BatchSolver solver(
      executor, linear_solver_options(command, system.attempts.front(), system.format));
  console.begin_phase("setup");
  solver.set_matrices(system.matrices());
  for (int k = 0; k < command.repeat; ++k) {
    console.begin_phase(command.repeat == 1 ? "solve" : "solve " + std::to_string(k + 1));
    std::vector<double> x = all_x0(system);
    linalg::BatchReport report = solver.solve(system.all_b().data(), x.data());
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
