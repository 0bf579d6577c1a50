#include "solve/run.h"

#include "linalg/linear_solver.h"
#include "linalg/mpi/communicators.h"
#include "linalg/mpi/distribution.h"
#include "linalg/nonlinear_solver.h"
#include "linalg/transformations/linear_system_transformation.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

namespace femgpu
{
namespace
{
std::vector<double> sorted_seconds(const std::vector<Repeat> &repeats)
{
  std::vector<double> seconds;
  for (const Repeat &repeat : repeats)
    seconds.push_back(repeat.solve_seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// The system on an executor, linear or not.
struct SystemSolver
{
  std::function<void()> setup;
  std::function<linalg::SolveReport(std::vector<double> &x)> solve;
  std::function<PartsRecord()> parts = [] { return PartsRecord(); };
};

using Progress = std::function<void(int, double)>;

SystemSolver make_linear(const SolveCommand &command, const SystemToSolve &system,
                         const linalg::ExecutorPtr &executor, const Progress &progress)
{
  linalg::LinearSolverOptions options = options_of(command, system);
  options.control.progress = progress;
  const auto solver = std::make_shared<linalg::LinearSolver>(executor, options);
  return {
      [=, &system] { solver->set_matrix(system.A.csr(), /* same pattern */ false); },
      [=, &system](std::vector<double> &x) { return solver->solve(system.b.data(), x.data()); }};
}

linalg::NonlinearSolverOptions nonlinear_options(const SolveCommand &command,
                                                 const SystemToSolve &system,
                                                 const Progress &progress)
{
  linalg::NonlinearSolverOptions options;
  options.method = command.nonlinear_method;
  options.linear = options_of(command, system);
  options.linear.control = {}; // Newton's method chooses tolerances
  options.control = command.control();
  options.control.progress = progress;
  return options;
}

/// A system in parts. One that the first rank has is ordered there, and cut.
class DistributedSystem
{
public:
  DistributedSystem(SystemToSolve &system, const std::string &ordering, MPI_Comm ranks)
      : system(system), order("none", ordering), ranks(ranks)
  {}

  void cut()
  {
    if (system.is_share)
      rows.emplace(ranks, std::exchange(system.A, {}));
    else
      rows.emplace(ranks, system.A.n > 0 ? order.setup(system.A.csr())
                                         : system.A.csr()); // others have none
  }
  const linalg::MatrixPart &matrix() const
  {
    return rows->matrix();
  }
  /// Of the first rank, in its order, to all.
  std::vector<double> scatter(const std::vector<double> &v) const
  {
    if (system.is_share)
      return v;
    std::vector<double> ordered(v.size());
    if (!v.empty())
      order.transform_rhs(v.data(), ordered.data());
    return rows->scatter(ordered);
  }
  std::vector<double> gather(const std::vector<double> &own) const
  {
    std::vector<double> ordered = rows->gather(own);
    if (system.is_share)
      return ordered;
    std::vector<double> v(ordered.size());
    if (!v.empty())
      order.restore_solution(ordered.data(), v.data());
    return v;
  }
  PartsRecord record() const
  {
    int n_parts = 1;
    MPI_Comm_size(ranks, &n_parts);
    const linalg::Distribution::Range of_rows = rows->range_of(rows->n()),
                                      of_ghosts = rows->range_of(rows->matrix().ghosts.n_ghosts());
    return {n_parts, {of_rows.least, of_rows.most}, {of_ghosts.least, of_ghosts.most}};
  }

private:
  SystemToSolve &system;
  linalg::LinearSystemTransformation order;
  MPI_Comm ranks;
  std::optional<linalg::Distribution> rows;
};

/// @p solver is a LinearSolver or NonlinearSolver of a part: set(A) and solve(b, x) know which.
template <class Set, class Solve>
SystemSolver in_parts(const std::shared_ptr<DistributedSystem> &parts, const SystemToSolve &system,
                      const std::string &ordering, const Set &set, const Solve &solve)
{
  const auto b = std::make_shared<std::vector<double>>();
  return {[=, &system] {
            parts->cut();
            *b = parts->scatter(system.b);
            set(parts->matrix().csr());
          },
          [=](std::vector<double> &x) {
            std::vector<double> own_x = parts->scatter(x);
            linalg::SolveReport report = solve(b->data(), own_x.data());
            report.method.ordering = ordering;
            x = parts->gather(own_x);
            return report;
          },
          [=] { return parts->record(); }};
}

SystemSolver make_distributed(const SolveCommand &command, SystemToSolve &system,
                              const linalg::ExecutorPtr &executor, const Ranks &ranks,
                              const Progress &progress)
{
  const auto parts =
      std::make_shared<DistributedSystem>(system, command.ordering, ranks.communicator());
  const linalg::CommunicatorPtr communicator =
      linalg::make_communicator(ranks.communicator(), executor, command.communicator);
  if (!system.nonlinear) {
    linalg::LinearSolverOptions options = options_of(command, system);
    options.ordering = "none";
    options.control.progress = progress;
    const auto solver = std::make_shared<linalg::LinearSolver>(executor, options, communicator);
    return in_parts(
        parts, system, command.ordering,
        [=](const linalg::HostCsr &A) { solver->set_matrix(A, /* same pattern */ false); },
        [=](const double *b, double *x) { return solver->solve(b, x); });
  }
  linalg::NonlinearSolverOptions options = nonlinear_options(command, system, progress);
  options.linear.ordering = "none";
  const auto solver = std::make_shared<linalg::NonlinearSolver>(executor, options, communicator);
  return in_parts(
      parts, system, command.ordering,
      [=, &system](const linalg::HostCsr &A) {
        solver->set_system(A, parts->scatter(system.weights).data(), /* same pattern */ false);
      },
      [=, &system](const double *b, double *x) {
        return solver->solve(system.nonlinear->phi, b, x);
      });
}

SystemSolver make_nonlinear(const SolveCommand &command, const SystemToSolve &system,
                            const linalg::ExecutorPtr &executor, const Progress &progress)
{
  const auto solver = std::make_shared<linalg::NonlinearSolver>(
      executor, nonlinear_options(command, system, progress));
  return {[=, &system] {
            solver->set_system(system.A.csr(), system.weights.data(), /* same pattern */ false);
          },
          [=, &system](std::vector<double> &x) {
            return solver->solve(system.nonlinear->phi, system.b.data(), x.data());
          }};
}

std::string progress_text(const int iteration, const double residual)
{
  std::ostringstream text;
  text.precision(2);
  text << "iteration " << iteration << ", residual " << std::scientific << residual;
  return text.str();
}

bool same_bits(const std::vector<double> &a, const std::vector<double> &b)
{
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}
} // namespace

linalg::LinearSolverOptions options_of(const SolveCommand &command, const SystemToSolve &system)
{
  linalg::LinearSolverOptions options;
  options.solver = system.solver;
  options.preconditioner = system.preconditioner;
  options.format = command.format;
  options.scaling = command.scaling;
  options.ordering = command.ordering;
  options.control = command.control();
  return options;
}

double RunRecord::median_seconds() const
{
  const std::vector<double> seconds = sorted_seconds(repeats);
  const std::size_t half = seconds.size() / 2;
  return seconds.size() % 2 == 1 ? seconds[half] : 0.5 * (seconds[half - 1] + seconds[half]);
}

double RunRecord::min_seconds() const
{
  return sorted_seconds(repeats).front();
}

double SolveRecord::seconds_per_iteration() const
{
  return report.iterations > 0 ? median_seconds() / report.iterations : 0.;
}

double SolveRecord::gigabytes_per_second() const
{
  // Newton's method counts the bytes of a linear iteration.
  const int n =
      report.inner.linear_iterations > 0 ? report.inner.linear_iterations : report.iterations;
  const auto bytes = static_cast<double>(report.method.bytes_per_iteration);
  const double seconds = median_seconds();
  return seconds > 0. ? 1e-9 * n * bytes / seconds : 0.;
}

double SolveRecord::largest() const
{
  return x.empty() ? 0. : *std::max_element(x.begin(), x.end());
}

bool RunRecord::all_identical() const
{
  return std::all_of(repeats.begin(), repeats.end(),
                     [](const Repeat &repeat) { return repeat.is_identical; });
}

std::string RunRecord::remark_on_bits() const
{
  const auto first = std::find_if(repeats.begin(), repeats.end(),
                                  [](const Repeat &repeat) { return !repeat.is_identical; });
  return "solve " + std::to_string(first - repeats.begin() + 1) + " of " +
         std::to_string(repeats.size()) +
         " gave another solution than the first, from the same start. Solves should repeat bit "
         "by bit: please report this with the matrix.";
}

void RunRecord::add(Repeat repeat, std::vector<double> new_x)
{
  if (repeats.empty())
    x = std::move(new_x);
  else
    repeat.is_identical = same_bits(new_x, x);
  repeats.push_back(repeat);
}

bool succeeded(const SolveCommand &command, const SolveRecord &record)
{
  if (!record.all_identical())
    return false;
  const linalg::SolveReport &report = record.report;
  return report.converged() ||
         (command.fixed_iterations && !(report.iterations < *command.fixed_iterations) &&
          report.outcome == linalg::Outcome::iteration_limit);
}

std::string remark(const SolveCommand &command, const SolveRecord &record)
{
  if (!record.all_identical())
    return record.remark_on_bits();
  const linalg::SolveReport &report = record.report;
  if (command.fixed_iterations && report.iterations < *command.fixed_iterations)
    return "it ended after " + std::to_string(report.iterations) + " instead of " +
           std::to_string(*command.fixed_iterations) + " iterations: " + report.message;
  const bool needs_no_words = report.outcome == linalg::Outcome::converged ||
                              (succeeded(command, record) && !report.converged());
  return needs_no_words ? "" : report.message;
}

SolveRecord solve_repeatedly(const SolveCommand &command, SystemToSolve &system,
                             const linalg::ExecutorPtr &executor, const Ranks &ranks,
                             Console &console)
{
  SolveRecord record;
  record.backend = executor->name();
  record.backend_description = executor->description();
  Progress progress;
  if (console.shows_progress())
    progress = [&console](const int iteration, const double residual) {
      console.progress(progress_text(iteration, residual));
    };
  const SystemSolver solver =
      ranks.are_several() ? make_distributed(command, system, executor, ranks, progress)
      : system.nonlinear  ? make_nonlinear(command, system, executor, progress)
                          : make_linear(command, system, executor, progress);
  console.begin_phase("setup");
  solver.setup();
  for (int k = 0; k < command.repeat; ++k) {
    console.begin_phase(command.repeat == 1 ? "solve" : "solve " + std::to_string(k + 1));
    std::vector<double> x = system.x0;
    linalg::SolveReport report = solver.solve(x);
    const Repeat repeat{report.iterations, report.outcome, report.costs.solve_seconds,
                        report.costs.transfer.waited_seconds()};
    if (k == 0)
      record.report = std::move(report);
    record.add(repeat, std::move(x));
  }
  record.parts = solver.parts();
  record.peak_bytes = executor->peak_bytes();
  return record;
}
} // namespace femgpu
