#include "common/report_values.h"
#include "common/version.h"
#include "solve/report.h"

#include <nlohmann/json.hpp>

namespace femgpu
{
namespace
{
using Json = nlohmann::ordered_json;

// Of the layout; grows when a reader of the old one could go wrong.
constexpr int schema_version = 1;

Json text_or_null(const std::string &text)
{
  return text.empty() ? Json() : Json(text);
}

/// What the user asked for; null where nothing was said.
Json command_values(const SolveCommand &command)
{
  const linalg::SolveControl control = command.control();
  return {
      {"matrix", text_or_null(command.matrix_file)},
      {"generate", text_or_null(command.generator)},
      {"b", text_or_null(command.rhs_file)},
      {"rhs", text_or_null(command.rhs)},
      {"x0", text_or_null(command.x0_file)},
      {"copies", command.copies ? Json(*command.copies) : Json()},
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
      {"energy_tolerance", command.energy_tolerance ? Json(*command.energy_tolerance) : Json()},
      {"max_iterations", control.max_iterations},
      {"execution", command.execution},
      {"repeat", command.repeat},
      {"fixed_iterations", command.fixed_iterations ? Json(*command.fixed_iterations) : Json()}};
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

/// null for linear systems
Json nonlinear_values(const SystemToSolve &system, const SolveRecord &record)
{
  if (!system.nonlinear)
    return {};
  Json values = {{"term", system.nonlinear->text},
                 {"lambda", system.nonlinear->phi.lambda},
                 {"weight", system.weights.empty() ? Json() : Json(system.weights.front())},
                 {"largest_x", record.largest()}};
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

Json repeat_values(const RunRecord &record)
{
  Json values = Json::array();
  for (const Repeat &repeat : record.repeats)
    values.push_back({{"outcome", linalg::to_string(repeat.outcome)},
                      {"iterations", repeat.iterations},
                      {"solve_seconds", repeat.solve_seconds},
                      {"transfer_seconds", repeat.transfer_seconds},
                      {"identical", repeat.is_identical}});
  return values;
}

Json backend_values(const RunRecord &record)
{
  return {{"name", record.backend}, {"description", record.backend_description}};
}

/// null: there is one.
Json parts_values(const PartsRecord &parts)
{
  if (parts.count == 1)
    return {};
  return {{"count", parts.count},
          {"rows", {{"min", parts.rows[0]}, {"max", parts.rows[1]}}},
          {"ghosts", {{"min", parts.ghosts[0]}, {"max", parts.ghosts[1]}}}};
}

Json batch_values(const BatchRecord &record)
{
  const linalg::BatchReport &report = record.report;
  const BatchRecord::Iterations iterations = record.iterations();
  const int worst = report.worst();
  return {{"systems", report.systems.size()},
          {"converged", report.n_converged()},
          {"alone", report.n_alone()},
          {"solver", report.method.solver},
          {"preconditioner", report.method.preconditioner},
          {"execution", report.method.execution},
          {"iterations",
           {{"min", iterations.least}, {"mean", iterations.mean}, {"max", iterations.most}}},
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
    of_system["alone"] = system.was_alone;
  }
  return values;
}
} // namespace

std::string report_json(const SolveCommand &command, const SystemToSolve &system,
                        const SolveRecord &record)
{
  Json solve = report_values(record.report);
  solve["gigabytes_per_second"] = record.gigabytes_per_second();
  const Json values = {{"schema", schema_version},
                       {"version", version_values()},
                       {"outcome", linalg::to_string(record.report.outcome)},
                       {"succeeded", succeeded(command, record)},
                       {"command", command_values(command)},
                       {"matrix", matrix_values(command, system)},
                       {"backend", backend_values(record)},
                       {"parts", parts_values(record.parts)},
                       {"peak_bytes", record.peak_bytes},
                       {"solve", solve},
                       {"attempts", attempt_values(record)},
                       {"nonlinear", nonlinear_values(system, record)},
                       {"seconds", second_values(record)},
                       {"repeats", repeat_values(record)},
                       {"repeats_identical", record.all_identical()},
                       {"history", record.report.history}};
  return values.dump(2) + "\n";
}

std::string report_json(const SolveCommand &command, const SystemToSolve &system,
                        const BatchRecord &record)
{
  const Json values = {{"schema", schema_version},
                       {"version", version_values()},
                       {"outcome", linalg::to_string(outcome(record.report))},
                       {"succeeded", succeeded(command, record)},
                       {"command", command_values(command)},
                       {"matrix", matrix_values(command, system)},
                       {"backend", backend_values(record)},
                       {"peak_bytes", record.peak_bytes},
                       {"batch", batch_values(record)},
                       {"systems", system_values(record.report)},
                       {"seconds",
                        {{"read", record.read_seconds},
                         {"transfer", record.report.transfer_seconds},
                         {"solve", record.median_seconds()},
                         {"solve_min", record.min_seconds()},
                         {"total", record.total_seconds}}},
                       {"repeats", repeat_values(record)},
                       {"repeats_identical", record.all_identical()}};
  return values.dump(2) + "\n";
}
} // namespace femgpu
