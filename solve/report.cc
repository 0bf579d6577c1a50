#include "solve/report.h"

#include "common/report_values.h"
#include "common/version.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <iomanip>
#include <sstream>

namespace femgpu
{
namespace
{
/// Formats a number with @p digits significant digits.
std::string text_of(const double value, const int digits = 3)
{
  std::ostringstream text;
  text << std::setprecision(digits) << value;
  return text.str();
}

/// Formats bytes as "12.3 MB", with decimal prefixes.
std::string bytes_text(const std::size_t bytes)
{
  constexpr std::array<const char *, 4> units = {" B", " kB", " MB", " GB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000. && unit + 1 < units.size(); ++unit)
    value /= 1000.;
  return text_of(value) + units[unit];
}

/// Formats seconds as "12.3 ms".
std::string seconds_text(const double seconds)
{
  if (seconds >= 1. || seconds == 0.)
    return text_of(seconds) + " s";
  return seconds >= 1e-3 ? text_of(1e3 * seconds) + " ms" : text_of(1e6 * seconds) + " us";
}

std::string relative_text(const double value, const double reference)
{
  return text_of(value) + (reference > 0. ? " (relative " + text_of(value / reference) + ")" : "");
}

void add(std::string &text, const std::string &title, const std::string &line)
{
  constexpr std::size_t width = 16;
  text += title + std::string(width - title.size(), ' ') + line + '\n';
}

void add_system(std::string &text, const SolveCommand &command, const SystemToSolve &system)
{
  add(text, "system", command.system());
  add(text, "matrix",
      std::to_string(system.n) + " rows, " + std::to_string(system.n_nonzeros) + " entries, " +
          (system.is_symmetric ? "symmetric" : "unsymmetric") +
          (system.has_both_triangles ? ", both triangles in the file" : "") + "; in a row " +
          std::to_string(system.lengths.min) + " to " + std::to_string(system.lengths.max) +
          ", mean " + text_of(system.lengths.mean));
  add(text, "b", system.rhs);
  if (system.nonlinear)
    add(text, "nonlinear term",
        system.nonlinear->text + "; lambda " + text_of(system.nonlinear->phi.lambda) +
            (system.weights.empty() ? "" : ", weights " + text_of(system.weights.front())));
}

/// Adds a line for each attempt whose methods femgpu-solve chose: the reason and the outcome.
void add_attempts(std::string &text, const SolveRecord &record)
{
  for (std::size_t k = 0; k < record.attempts.size(); ++k) {
    const AttemptRecord &attempt = record.attempts[k];
    if (!attempt.methods.reason.empty())
      add(text, "attempt " + std::to_string(k + 1),
          text_of(attempt.methods) + ", because " + attempt.methods.reason + ": " +
              attempt.outcome + " after " + std::to_string(attempt.iterations) +
              " iterations and " + seconds_text(attempt.seconds));
  }
}

/// Formats a range as "3 to 5".
std::string range_text(const long long (&ends)[2])
{
  return std::to_string(ends[0]) + " to " + std::to_string(ends[1]);
}

/// Describes the communication per iteration. The times include waiting.
std::string communication_text(const linalg::SolveReport &report)
{
  const linalg::Communication &all = report.costs.communication;
  const int n = std::max({1, report.iterations, report.inner.linear_iterations});
  return report.method.communicator + ", an iteration: sums " + seconds_text(all.sum_seconds / n) +
         ", ghosts " + seconds_text(all.exchange_seconds / n) + " for " +
         bytes_text(all.exchanged_bytes / static_cast<std::size_t>(n));
}

void add_methods(std::string &text, const SystemToSolve &system, const SolveRecord &record)
{
  const linalg::MethodReport &method = record.report.method;
  const auto nonzeros = static_cast<double>(system.n_nonzeros);
  add(text, "backend", record.backend + " (" + record.backend_description + ")");
  if (record.distribution.count > 1)
    add(text, "parts",
        std::to_string(record.distribution.count) + " ranks of " +
            range_text(record.distribution.rows) + " rows, with " +
            range_text(record.distribution.ghosts) + " ghosts; " +
            communication_text(record.report));
  add(text, "solver",
      method.solver + (method.execution.empty() ? "" : "; loop run as " + method.execution) +
          (method.solver_remarks.empty() ? "" : "; " + method.solver_remarks));
  add(text, "preconditioner",
      method.preconditioner + "; setup " + seconds_text(record.report.costs.setup_seconds) + ", " +
          std::to_string(method.setup.n_nonzeros) + " entries, " +
          bytes_text(method.preconditioner_bytes) +
          (method.setup.remarks.empty() ? "" : "; " + method.setup.remarks));
  const double padding =
      nonzeros > 0. ? 100. * (static_cast<double>(method.matrix_stored) / nonzeros - 1.) : 0.;
  if (method.matrix_stored > 0 || nonzeros == 0.) // the direct solver stores no matrix
    add(text, "format",
        method.format + "; " + std::to_string(method.matrix_stored) + " entries stored (" +
            text_of(padding) + " % more than in the matrix), " + bytes_text(method.matrix_bytes));
  add(text, "scaling", method.scaling + "; ordering " + method.ordering);
}

void add_residuals(std::string &text, const linalg::SolveReport &report, const bool is_nonlinear)
{
  add(text, "norm", report.method.norm);
  add(text, "residual",
      "at the start " + text_of(report.initial_residual) + ", target " + text_of(report.target) +
          ", at the end " + text_of(report.true_residual));
  if (const linalg::EnergyReport &energy = report.energy; energy.error >= 0.)
    add(text, "energy error",
        "estimated " + relative_text(energy.error, energy.norm) + ", " +
            std::to_string(energy.delay) + " iterations before the end" +
            (energy.target >= 0. ? ", target " + text_of(energy.target) : ""));
  if (!is_nonlinear)
    add(text, "of A x = b", relative_text(report.original.residual, report.original.rhs));
  if (report.backward_error >= 0.)
    add(text, "backward error",
        text_of(report.backward_error) +
            (report.componentwise_backward_error >= 0.
                 ? ", in the worst row " + text_of(report.componentwise_backward_error)
                 : ""));
}

void add_repeats(std::string &text, const RunRecord &record)
{
  if (record.repeats.size() > 1)
    add(text, "repeats",
        std::to_string(record.repeats.size()) + " solves: median " +
            seconds_text(record.median_seconds()) + ", min " + seconds_text(record.min_seconds()) +
            (record.all_identical() ? "; all solutions are bitwise identical" : ""));
}

void add_times(std::string &text, const SolveRecord &record, const bool is_nonlinear)
{
  const linalg::SolveReport &report = record.report;
  const linalg::SolveCosts &costs = report.costs;
  add(text, "iterations",
      std::to_string(report.iterations) +
          (is_nonlinear
               ? ", linear iterations " + std::to_string(report.inner.linear_iterations) +
                     ", line-search steps " + std::to_string(report.inner.line_search_steps)
               : "") +
          ", restarts " + std::to_string(report.restarts));
  add(text, "times",
      "read " + seconds_text(record.read_seconds) + ", format " +
          seconds_text(costs.format_seconds) + ", setup " + seconds_text(costs.setup_seconds) +
          ", transfer " + seconds_text(costs.transfer.waited_seconds()) + ", solve " +
          seconds_text(record.median_seconds()));
  add(text, "transfer",
      bytes_text(costs.transfer.bytes) + ", " + text_of(costs.transfer.gigabytes_per_second()) +
          " GB/s");
  add_repeats(text, record);
  add(text, "an iteration",
      seconds_text(record.seconds_per_iteration()) + ", " +
          bytes_text(report.method.bytes_per_iteration) +
          (report.inner.linear_iterations > 0 ? " per linear iteration" : "") + ", " +
          text_of(record.gigabytes_per_second()) + " GB/s");
}

void add_batch(std::string &text, const BatchRecord &record)
{
  const linalg::BatchReport &report = record.report;
  const BatchRecord::Iterations iterations = record.iterations();
  add(text, "backend", record.backend + " (" + record.backend_description + ")");
  add(text, "solver",
      report.method.solver + " with " + report.method.preconditioner + "; " +
          report.method.execution);
  add(text, "systems",
      std::to_string(report.systems.size()) + ", of which " + std::to_string(report.n_converged()) +
          " converged");
  add(text, "iterations",
      std::to_string(iterations.minimum) + " to " + std::to_string(iterations.maximum) + ", mean " +
          text_of(iterations.mean) + "; restarts " + std::to_string(iterations.restarts));
  constexpr std::size_t most_listed = 32;
  for (std::size_t k = 0; k < report.systems.size() && report.systems.size() <= most_listed; ++k) {
    const linalg::SystemReport &system = report.systems[k];
    add(text, "system " + std::to_string(k + 1),
        linalg::to_string(system.outcome) + " in " + std::to_string(system.iterations) +
            " iterations, relative residual " + text_of(system.relative_residual()));
  }
  if (const int worst = report.worst(); worst >= 0)
    add(text, "worst residual",
        text_of(report.systems[worst].true_residual) + " (relative " +
            text_of(report.systems[worst].relative_residual()) + "), of system " +
            std::to_string(worst + 1));
  add(text, "times",
      "read " + seconds_text(record.read_seconds) + ", transfer " +
          seconds_text(report.transfer_seconds) + ", solve " +
          seconds_text(record.median_seconds()) + "; " + text_of(record.systems_per_second()) +
          " systems a second");
  add_repeats(text, record);
}
} // namespace

std::string report_text(const SolveCommand &command, const SystemToSolve &system,
                        const SolveRecord &record)
{
  std::string text;
  add_system(text, command, system);
  add_attempts(text, record);
  add_methods(text, system, record);
  add_residuals(text, record.report, system.nonlinear.has_value());
  if (system.nonlinear)
    add(text, "largest x_i", text_of(record.max_x(), 8));
  add_times(text, record, system.nonlinear.has_value());
  const bool met_request = succeeded(command, record) && !record.report.converged();
  add(text, "outcome",
      linalg::to_string(record.report.outcome) + ": " +
          (met_request ? "the fixed number of iterations was done" : record.report.message));
  text.pop_back();
  return text;
}

std::string report_text(const SolveCommand &command, const SystemToSolve &system,
                        const BatchRecord &record)
{
  std::string text;
  add_system(text, command, system);
  add_batch(text, record);
  const std::string failure = remark(command, record);
  add(text, "outcome",
      failure.empty() ? "all systems converged, or did the fixed number of iterations" : failure);
  text.pop_back();
  return text;
}

namespace
{
using Json = nlohmann::ordered_json;

// Version of the layout of the JSON report; incremented by changes that could break a reader.
constexpr int schema_version = 1;

Json text_or_null(const std::string &text)
{
  return text.empty() ? Json() : Json(text);
}

/// Returns the options of the command line; null for options that were not given.
Json command_values(const SolveCommand &command)
{
  const linalg::SolveControl control = command.control();
  return {{"matrix", text_or_null(command.matrix_file)},
          {"generate", text_or_null(command.generator)},
          {"b", text_or_null(command.rhs_file)},
          {"rhs", text_or_null(command.rhs)},
          {"x0", text_or_null(command.x0_file)},
          {"copies", json_of(command.copies)},
          {"nonlinear", text_or_null(command.nonlinear)},
          {"nonlinear_method", command.nonlinear.empty() ? Json() : Json(command.nonlinear_method)},
          {"solver", text_or_null(command.solver)},
          {"preconditioner", text_or_null(command.preconditioner)},
          {"format", text_or_null(command.format)},
          {"scaling", text_or_null(command.scaling)},
          {"ordering", command.ordering},
          {"backend", command.backend},
          {"communicator", command.communicator},
          {"threads", command.threads == 0 ? Json() : Json(command.threads)},
          {"device_memory", command.device_memory == 0 ? Json() : Json(command.device_memory)},
          {"relative_tolerance", control.relative_tolerance},
          {"absolute_tolerance", control.absolute_tolerance},
          {"relative_to", command.relative_to},
          {"energy_tolerance", json_of(command.energy_tolerance)},
          {"max_iterations", control.max_iterations},
          {"execution", command.execution},
          {"repeat", command.repeat},
          {"fixed_iterations", json_of(command.fixed_iterations)}};
}

Json matrix_values(const SolveCommand &command, const SystemToSolve &system)
{
  return {
      {"name", command.system()},
      {"n", system.n},
      {"nonzeros", system.n_nonzeros},
      {"symmetric", system.is_symmetric},
      {"row_lengths",
       {{"min", system.lengths.min}, {"mean", system.lengths.mean}, {"max", system.lengths.max}}},
      {"rhs", system.rhs}};
}

/// Returns the values of the nonlinear solve; null for linear systems.
Json nonlinear_values(const SystemToSolve &system, const SolveRecord &record)
{
  if (!system.nonlinear)
    return {};
  Json values = {{"term", system.nonlinear->text},
                 {"lambda", system.nonlinear->phi.lambda},
                 {"weight", system.weights.empty() ? Json() : Json(system.weights.front())},
                 {"largest_x", record.max_x()}};
  add_members(values, record.report.inner);
  return values;
}

Json attempt_values(const SolveRecord &record)
{
  Json values = Json::array();
  for (const AttemptRecord &attempt : record.attempts)
    values.push_back({{"solver", attempt.methods.solver},
                      {"preconditioner", text_or_null(attempt.methods.preconditioner)},
                      {"scaling", attempt.methods.scaling},
                      {"reason", text_or_null(attempt.methods.reason)},
                      {"outcome", attempt.outcome},
                      {"iterations", attempt.iterations},
                      {"seconds", attempt.seconds},
                      {"message", attempt.message}});
  return values;
}

Json second_values(const SolveRecord &record)
{
  const linalg::SolveCosts &costs = record.report.costs;
  return {{"read", record.read_seconds},
          {"format", costs.format_seconds},
          {"setup", costs.setup_seconds},
          {"transfer", costs.transfer.waited_seconds()},
          {"solve", record.median_seconds()},
          {"solve_min", record.min_seconds()},
          {"iteration", record.seconds_per_iteration()},
          {"total", record.total_seconds}};
}

void add_repeats(Json &values, const RunRecord &record)
{
  for (const Repeat &repeat : record.repeats)
    values["repeats"].push_back({{"outcome", linalg::to_string(repeat.outcome)},
                                 {"iterations", repeat.iterations},
                                 {"solve_seconds", repeat.solve_seconds},
                                 {"transfer_seconds", repeat.transfer_seconds},
                                 {"identical", repeat.is_identical}});
  values["repeats_identical"] = record.all_identical();
}

/// Returns the partition sizes; null for a single rank.
Json distribution_values(const DistributionRecord &distribution)
{
  if (distribution.count == 1)
    return {};
  return {{"count", distribution.count},
          {"rows", {{"min", distribution.rows[0]}, {"max", distribution.rows[1]}}},
          {"ghosts", {{"min", distribution.ghosts[0]}, {"max", distribution.ghosts[1]}}}};
}

Json batch_values(const BatchRecord &record)
{
  const linalg::BatchReport &report = record.report;
  const BatchRecord::Iterations iterations = record.iterations();
  const int worst = report.worst();
  return {{"systems", report.systems.size()},
          {"converged", report.n_converged()},
          {"alone", report.n_solved_separately()},
          {"solver", report.method.solver},
          {"preconditioner", report.method.preconditioner},
          {"execution", report.method.execution},
          {"iterations",
           {{"min", iterations.minimum}, {"mean", iterations.mean}, {"max", iterations.maximum}}},
          {"restarts", iterations.restarts},
          {"worst_system", worst < 0 ? Json() : Json(worst + 1)},
          {"worst_relative_residual",
           worst < 0 ? Json() : Json(report.systems[worst].relative_residual())},
          {"systems_per_second", record.systems_per_second()}};
}

Json system_values(const linalg::BatchReport &report)
{
  Json values = Json::array();
  for (const linalg::SystemReport &system : report.systems) {
    Json &of_system = values.emplace_back();
    add_members<linalg::SolveResult>(of_system, system);
    of_system["message"] = text_or_null(system.message);
    of_system["alone"] = system.solved_separately;
  }
  return values;
}
/// Returns the members with which the reports of a single system and of a batch begin.
template <class Record>
Json common_values(const SolveCommand &command, const SystemToSolve &system, const Record &record,
                   const linalg::Outcome outcome)
{
  return {{"schema", schema_version},
          {"version", version_values()},
          {"outcome", linalg::to_string(outcome)},
          {"succeeded", succeeded(command, record)},
          {"command", command_values(command)},
          {"matrix", matrix_values(command, system)},
          {"backend", {{"name", record.backend}, {"description", record.backend_description}}}};
}
} // namespace

std::string report_json(const SolveCommand &command, const SystemToSolve &system,
                        const SolveRecord &record)
{
  Json values = common_values(command, system, record, record.report.outcome);
  values["parts"] = distribution_values(record.distribution);
  values["peak_bytes"] = record.peak_bytes;
  values["solve"] = report_values(record.report);
  values["solve"]["gigabytes_per_second"] = record.gigabytes_per_second();
  values["attempts"] = attempt_values(record);
  values["nonlinear"] = nonlinear_values(system, record);
  values["seconds"] = second_values(record);
  add_repeats(values, record);
  values["history"] = record.report.history;
  return values.dump(2) + "\n";
}

std::string report_json(const SolveCommand &command, const SystemToSolve &system,
                        const BatchRecord &record)
{
  Json values = common_values(command, system, record, outcome(record.report));
  values["peak_bytes"] = record.peak_bytes;
  values["batch"] = batch_values(record);
  values["systems"] = system_values(record.report);
  values["seconds"] = {{"read", record.read_seconds},
                       {"transfer", record.report.transfer_seconds},
                       {"solve", record.median_seconds()},
                       {"solve_min", record.min_seconds()},
                       {"total", record.total_seconds}};
  add_repeats(values, record);
  return values.dump(2) + "\n";
}

std::string history_csv(const SolveRecord &record)
{
  std::string text = "iteration,residual\n";
  std::array<char, 32> digits{};
  for (std::size_t k = 0; k < record.report.history.size(); ++k) {
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), record.report.history[k]).ptr;
    text += std::to_string(k) + ',' + std::string(digits.data(), end) + '\n';
  }
  return text;
}
} // namespace femgpu
