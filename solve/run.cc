#include "solve/run.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/direct_fallback.h"
#include "linalg/linear_solver.h"
#include "linalg/mpi/communicators.h"
#include "linalg/nonlinear_solver.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"
#include "solve/distributed_system.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iomanip>
#include <limits>
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

/// The functions that set up the solver of a linear or nonlinear system and solve with it.
struct SystemSolver
{
  std::function<void()> setup;
  std::function<linalg::SolveReport(std::vector<double> &x)> solve;
  std::function<DistributionRecord()> distribution = [] { return DistributionRecord(); };
};

using Progress = std::function<void(int, double)>;

/// Returns the largest residual ‖b − A x‖ of the unscaled system that meets the tolerances.
/// @param x the initial guess, to which the relative tolerance may refer
double unscaled_target(const linalg::SolveControl &control, const SystemToSolve &system,
                       const double *x)
{
  const linalg::SystemNorms norms = linalg::measure(system.A.csr(), system.b.data(), x);
  const bool is_of_rhs = control.reference == linalg::SolveControl::Reference::rhs;
  return std::max(control.absolute_tolerance,
                  control.relative_tolerance * (is_of_rhs ? norms.rhs : norms.residual));
}

/// Solves until the residual of the unscaled system meets the tolerances, too. The tolerances refer
/// to the unscaled system if femgpu-solve chose the scaling. If 5 continuations of the solve do not
/// suffice, the outcome is `stagnated`.
linalg::SolveReport solve_to_unscaled_target(linalg::LinearSolver &solver,
                                             const SystemToSolve &system, double *x)
{
  const linalg::SolveControl control = solver.control();
  const double target = unscaled_target(control, system, x);
  linalg::SolveReport report = solver.solve(system.b.data(), x);
  constexpr int max_continuations = 5;
  for (int k = 0; k < max_continuations && report.outcome == linalg::Outcome::converged &&
                  report.original.residual > target;
       ++k) {
    solver.control().relative_tolerance = 0.;
    solver.control().absolute_tolerance =
        0.3 * report.true_residual * target / report.original.residual;
    append_solve(report, solver.solve(system.b.data(), x));
  }
  solver.control() = control;
  if (report.outcome == linalg::Outcome::converged && report.original.residual > target) {
    report.outcome = linalg::Outcome::stagnated;
    describe(report);
  }
  return report;
}

/// The functions that set the system of a LinearSolver or NonlinearSolver and solve it, for all
/// rows or for the rows of this rank.
struct RowSolver
{
  std::function<void(const linalg::HostCsr &A, const double *weights)> set;
  std::function<linalg::SolveReport(const double *b, double *x)> solve;
};

RowSolver make_row_solver(const SolveCommand &command, const SystemToSolve &system,
                          const Methods &methods, const std::string &ordering,
                          const linalg::ExecutorPtr &executor, const Progress &progress,
                          const linalg::CommunicatorPtr &communicator)
{
  linalg::LinearSolverOptions linear = linear_solver_options(command, methods, system.format);
  linear.ordering = ordering;
  if (!system.nonlinear) {
    linear.control.progress = progress;
    const auto solver = std::make_shared<linalg::LinearSolver>(executor, linear, communicator);
    const bool is_chosen = !methods.reason.empty() && methods.scaling != "none";
    return {[=](const linalg::HostCsr &A, const double * /* weights */) {
              solver->set_matrix(A, /* same pattern */ false);
            },
            [=, &system](const double *b, double *x) {
              return is_chosen ? solve_to_unscaled_target(*solver, system, x) : solver->solve(b, x);
            }};
  }
  linalg::NonlinearSolverOptions options;
  options.method = command.nonlinear_method;
  options.linear = linear;
  options.linear.control = {}; // Newton's method sets the tolerances
  options.control = command.control();
  options.control.progress = progress;
  const auto solver = std::make_shared<linalg::NonlinearSolver>(executor, options, communicator);
  return {[=](const linalg::HostCsr &A, const double *weights) {
            solver->set_system(A, weights, /* same pattern */ false);
          },
          [=, &system](const double *b, double *x) {
            return solver->solve(system.nonlinear->phi, b, x);
          }};
}

SystemSolver make_single_rank(const SolveCommand &command, const SystemToSolve &system,
                              const Methods &methods, const linalg::ExecutorPtr &executor,
                              const Progress &progress)
{
  if (!methods.reason.empty() && linalg::solvers.traits(methods.solver).is_direct)
    return {[] {},
            [&, executor](std::vector<double> &x) {
              return linalg::solve_direct(executor, system.A.csr(), system.b.data(), x.data(),
                                          command.control());
            }};
  const RowSolver solver =
      make_row_solver(command, system, methods, command.ordering, executor, progress, nullptr);
  return {[=, &system] { solver.set(system.A.csr(), system.weights.data()); },
          [=, &system](std::vector<double> &x) { return solver.solve(system.b.data(), x.data()); }};
}

SystemSolver make_distributed(const SolveCommand &command, SystemToSolve &system,
                              const linalg::ExecutorPtr &executor, const Ranks &ranks,
                              const Progress &progress)
{
  const auto distribution =
      std::make_shared<DistributedSystem>(system, command.ordering, ranks.communicator());
  const RowSolver solver = make_row_solver(
      command, system, system.attempts.front(), "none", executor, progress,
      linalg::make_communicator(ranks.communicator(), executor, command.communicator));
  const auto b = std::make_shared<std::vector<double>>();
  return {[=, &system] {
            distribution->distribute();
            *b = distribution->scatter(system.b);
            const std::vector<double> weights =
                system.nonlinear ? distribution->scatter(system.weights) : std::vector<double>();
            solver.set(distribution->matrix().csr(), weights.data());
          },
          [=, ordering = command.ordering](std::vector<double> &x) {
            std::vector<double> own_x = distribution->scatter(x);
            linalg::SolveReport report = solver.solve(b->data(), own_x.data());
            report.method.ordering = ordering;
            x = distribution->gather(own_x);
            return report;
          },
          [=] { return distribution->record(); }};
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

linalg::LinearSolverOptions linear_solver_options(const SolveCommand &command,
                                                  const Methods &methods, const std::string &format)
{
  linalg::LinearSolverOptions options;
  options.solver = methods.solver;
  options.preconditioner = methods.preconditioner;
  options.format = format;
  options.scaling = methods.scaling;
  options.ordering = command.ordering;
  options.control = command.control();
  if (methods.max_iterations > 0 && !command.max_iterations)
    options.control.max_iterations = methods.max_iterations;
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
  // In Newton's method, bytes_per_iteration refers to a linear iteration.
  const int n =
      report.inner.linear_iterations > 0 ? report.inner.linear_iterations : report.iterations;
  const auto bytes = static_cast<double>(report.method.bytes_per_iteration);
  const double seconds = median_seconds();
  return seconds > 0. ? 1e-9 * n * bytes / seconds : 0.;
}

double SolveRecord::max_x() const
{
  return x.empty() ? 0. : *std::max_element(x.begin(), x.end());
}

bool RunRecord::all_identical() const
{
  return std::all_of(repeats.begin(), repeats.end(),
                     [](const Repeat &repeat) { return repeat.is_identical; });
}

std::string RunRecord::reproducibility_remark() const
{
  const auto first = std::find_if(repeats.begin(), repeats.end(),
                                  [](const Repeat &repeat) { return !repeat.is_identical; });
  return "solve " + std::to_string(first - repeats.begin() + 1) + " of " +
         std::to_string(repeats.size()) +
         " differs from the first solution, although all should agree bit for bit. Please report "
         "this bug with the matrix.";
}

void RunRecord::add(Repeat repeat, std::vector<double> new_x)
{
  if (repeats.empty())
    x = std::move(new_x);
  else
    repeat.is_identical = same_bits(new_x, x);
  repeats.push_back(repeat);
}

bool met_request(const SolveCommand &command, const linalg::SolveResult &result)
{
  return result.converged() ||
         (command.fixed_iterations && result.iterations >= *command.fixed_iterations &&
          result.outcome == linalg::Outcome::iteration_limit);
}

bool succeeded(const SolveCommand &command, const SolveRecord &record)
{
  return (record.all_identical() || !record.report.method.is_reproducible) &&
         met_request(command, record.report);
}

namespace
{
/// Returns a warning if the componentwise backward error exceeds both 1e-6 and 100 times the
/// tolerance: a few large rows may dominate the residual norm. Otherwise returns an empty string.
std::string warning_of_rows(const SolveCommand &command, const linalg::SolveReport &report)
{
  constexpr double largest_error = 1e-6;
  const double tolerance = 100. * command.control().relative_tolerance;
  const double error = report.componentwise_backward_error;
  if (report.outcome != linalg::Outcome::converged || command.energy_tolerance ||
      error <= std::max(tolerance, largest_error))
    return "";
  std::ostringstream text;
  text << std::setprecision(2) << "the residual is small relative to ‖b‖, but in one row |b−Ax| is "
       << error
       << " times |A||x|+|b|, so that x may be wrong: rows with large entries hide those with "
          "small ones. Set --scaling "
       << (report.method.scaling == "none" ? "symmetric or balance, or " : "to another value, or ")
       << "a smaller --relative-tolerance; with conjugate gradients, use --energy-tolerance.";
  return text.str();
}
} // namespace

std::string remark(const SolveCommand &command, const SolveRecord &record)
{
  const linalg::SolveReport &report = record.report;
  if (!record.all_identical() && report.method.is_reproducible)
    return record.reproducibility_remark();
  if (command.fixed_iterations && report.iterations < *command.fixed_iterations)
    return "the solve ended after " + std::to_string(report.iterations) + " instead of " +
           std::to_string(*command.fixed_iterations) + " iterations: " + report.message;
  if (report.outcome == linalg::Outcome::converged)
    return warning_of_rows(command, report);
  return report.converged() || !succeeded(command, record) ? report.message : "";
}

namespace
{
SolveRecord attempt(const SolveCommand &command, SystemToSolve &system, const Methods &methods,
                    const linalg::ExecutorPtr &executor, const Ranks &ranks, Console &console)
{
  SolveRecord record;
  record.backend = executor->name();
  record.backend_description = executor->description();
  Progress progress;
  if (console.shows_progress())
    progress = [&console](const int iteration, const double residual) {
      console.progress(progress_text(iteration, residual));
    };
  const SystemSolver solver = ranks.is_parallel()
                                  ? make_distributed(command, system, executor, ranks, progress)
                                  : make_single_rank(command, system, methods, executor, progress);
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
    if (k == 0 && !succeeded(command, record) && &methods != &system.attempts.back())
      break; // no repeats: another attempt follows
  }
  record.distribution = solver.distribution();
  record.peak_bytes = executor->peak_bytes();
  return record;
}

/// Returns the backward error; infinity if it is unknown.
double backward_error(const SolveRecord &record)
{
  const double error = record.report.backward_error;
  return error >= 0. ? error : std::numeric_limits<double>::infinity();
}

/// Returns " Other attempts failed: ...", or an empty string if there were no others.
std::string other_failures(const std::vector<AttemptRecord> &attempts, const std::size_t reported)
{
  std::string text;
  for (std::size_t k = 0; k < attempts.size(); ++k)
    if (k != reported)
      text += (text.empty() ? " Other attempts failed: " : "; ") + text_of(attempts[k].methods) +
              " (" + attempts[k].outcome + ")";
  return text.empty() ? "" : text + '.';
}
} // namespace

SolveRecord solve_repeatedly(const SolveCommand &command, SystemToSolve &system,
                             const linalg::ExecutorPtr &executor, const Ranks &ranks,
                             Console &console)
{
  std::optional<SolveRecord> best;
  std::vector<AttemptRecord> attempts;
  std::size_t reported = 0;
  for (const Methods &methods : system.attempts) {
    const bool is_last = &methods == &system.attempts.back();
    const Stopwatch watch;
    AttemptRecord &record_of_attempt =
        attempts.emplace_back(AttemptRecord{methods, "refused", "", 0, 0.});
    try {
      SolveRecord record = attempt(command, system, methods, executor, ranks, console);
      record_of_attempt.outcome = linalg::to_string(record.report.outcome);
      record_of_attempt.message = record.report.message;
      record_of_attempt.iterations = record.report.iterations;
      if (!best || succeeded(command, record) || backward_error(record) < backward_error(*best)) {
        best = std::move(record);
        reported = attempts.size() - 1;
      }
    }
    catch (const ParameterError &) {
      throw; // other methods would not help
    }
    catch (const Error &error) {
      record_of_attempt.message = error.what();
      if (is_last && !best)
        throw;
    }
    record_of_attempt.seconds = watch.elapsed();
    const bool is_limited =
        command.max_iterations &&
        record_of_attempt.outcome == to_string(linalg::Outcome::iteration_limit);
    if (is_limited || (best && succeeded(command, *best)))
      break;
  }
  if (!succeeded(command, *best))
    best->report.message += other_failures(attempts, reported);
  best->attempts = std::move(attempts);
  return std::move(*best);
}
} // namespace femgpu
