#include "app/summary.h"

#include "app/branch_report.h"
#include "app/convergence.h"
#include "app/extrapolation.h"
#include "app/parameter_print.h"
#include "common/report_values.h"
#include "common/version.h"

#include <deal.II/base/config.h>

#include <nlohmann/json.hpp>

#include <sstream>

namespace femgpu
{
namespace
{
using Json = nlohmann::ordered_json;

// Of the layout of summary.json; grows when a reader of the old one could go wrong.
constexpr int schema_version = 3;
// The same for study.json.
constexpr int study_schema_version = 1;

bool is_parameter(const Json &node)
{
  return node.contains("value") && !node["value"].is_object();
}

/// Section -> key -> value of every parameter.
Json values_of(const Json &node)
{
  Json values = Json::object();
  for (const auto &[key, entry] : node.items())
    values[key] = is_parameter(entry) ? entry["value"] : values_of(entry);
  return values;
}

/// Adds to @p changed the parameters that are not at their default, by `Section/Key`.
void find_changed(const Json &node, const std::string &path, Json &changed)
{
  for (const auto &[key, entry] : node.items())
    if (!is_parameter(entry))
      find_changed(entry, path + key + "/", changed);
    else if (entry["value"] != entry["default_value"])
      changed.push_back(
          {{"name", path + key}, {"value", entry["value"]}, {"default", entry["default_value"]}});
}

/// What print_parameters() says in JSON.
Json declared_parameters()
{
  std::stringstream text;
  print_parameters(text, dealii::ParameterAcceptor::prm, ParameterFormat::json);
  return Json::parse(text);
}

const LibraryVersions libraries = {{"deal.II", DEAL_II_PACKAGE_VERSION}};

Json solve_values(const SolveSummary &solve)
{
  Json values = report_values(solve.report);
  values["nonlinear_iterations"] = solve.nonlinear_iterations;
  values["linear_iterations"] = solve.linear_iterations;
  return values;
}

/// null for nothing.
Json optional_value(const std::optional<double> &value)
{
  return value ? Json(*value) : Json();
}

Json cycle_values(const StudyRecord &study, const CycleRecord &cycle)
{
  Json values = {{"cycle", cycle.cycle}, {"cells", cycle.cells},
                 {"dofs", cycle.dofs},   {"nonzeros", cycle.nonzeros},
                 {"h", cycle.h},         {"solve", solve_values(cycle.solve)}};
  if (cycle.errors) {
    const auto norm = [&](double ErrorNorms::*member) {
      return Json{{"error", (*cycle.errors).*member},
                  {"order", optional_value(observed_order(study, cycle.cycle, member))}};
    };
    values["errors"] = {{"L2", norm(&ErrorNorms::L2)},
                        {"H1", norm(&ErrorNorms::H1)},
                        {"Linf", norm(&ErrorNorms::Linf)}};
  }
  if (cycle.norms)
    values["norms"] = {{"L2", cycle.norms->L2}, {"H1", cycle.norms->H1}};
  if (cycle.estimate) {
    const auto order = estimated_order(study, cycle.cycle);
    values["estimate"] = {{"error", cycle.estimate->error},
                          {"order", optional_value(order)},
                          {"relative", cycle.estimate->relative()},
                          {"effectivity", optional_value(cycle.estimate->effectivity)}};
  }
  values["energy"] = optional_value(cycle.energy);
  values["predicted_error"] = Json();
  if (const auto &predicted = cycle.predicted)
    values["predicted_error"] = {{"error", predicted->error},
                                 {"tolerance", predicted->tolerance},
                                 {"source", predicted->source}};
  values["quantities"] = Json::object();
  for (const Quantity &quantity : cycle.quantities)
    values["quantities"][quantity.name] = quantity.value;
  values["seconds"] = Json::object();
  for (const std::string &phase : phase_names())
    if (const auto entry = cycle.seconds.find(phase); entry != cycle.seconds.end())
      values["seconds"][phase] = entry->second;
  values["seconds"]["total"] = cycle.total_seconds;
  return values;
}
/// What a study found: cycles, and what follows from all of them.
Json results_of(const StudyRecord &study)
{
  Json values = {
      {"stopped_by", study.stopped_by}, {"warnings", study.warnings}, {"cycles", Json::array()}};
  for (const CycleRecord &cycle : study.cycles)
    values["cycles"].push_back(cycle_values(study, cycle));
  if (study.branch)
    values["continuation"] = branch_values(*study.branch);
  values["verdicts"] = Json::array();
  for (const Verdict &verdict : verdicts(study))
    values["verdicts"].push_back({{"norm", verdict.norm},
                                  {"by", verdict.is_by_dofs ? "dofs" : "h"},
                                  {"observed", verdict.observed},
                                  {"expected", verdict.expected},
                                  {"rounding", verdict.is_exact},
                                  {"holds", verdict.holds}});
  values["extrapolated"] = Json::array();
  for (const Extrapolation &e : extrapolations(study))
    values["extrapolated"].push_back({{"name", e.name},
                                      {"last", e.last},
                                      {"value", optional_value(e.value)},
                                      {"order", optional_value(e.order)},
                                      {"relative_error", optional_value(e.relative_error)},
                                      {"obstacle", e.obstacle}});
  return values;
}

std::string outcome_of(const StudyRecord &study)
{
  return study.cycles.empty() ? "none"
                              : linalg::to_string(study.cycles.back().solve.report.outcome);
}

Json groups_of(const StudyRecord &study)
{
  Json groups = Json::array();
  for (std::size_t k = 0; k < study.groups.size(); ++k) {
    const auto &group = study.groups[k];
    groups.push_back(
        {{"ranks", {group.first_rank, group.last_rank}},
         {"node", group.node},
         {"backend", group.backend},
         {"description", group.description},
         {"rows", k < study.rows_of_groups.size() ? Json(study.rows_of_groups[k]) : Json()}});
  }
  return groups;
}
} // namespace

std::string summary_json(const StudyRecord &study)
{
  Json summary = {
      {"schema", schema_version},
      {"version", version_values(libraries)},
      {"outcome", outcome_of(study)},
      {"physics", study.physics},
      {"dimension", study.dimension},
      {"element", study.element},
      {"mesh", {{"boundary_ids", study.boundary_ids}, {"material_ids", study.material_ids}}},
      {"ranks", study.n_ranks},
      {"backend",
       {{"name", study.groups.front().backend}, {"description", study.groups.front().description}}},
      {"groups", groups_of(study)},
      {"peak_bytes", {{"host", study.peak_host_bytes}, {"device", study.peak_device_bytes}}},
      {"total_seconds", study.total_seconds}};
  summary.update(results_of(study));
  summary["files"] = study.files;
  summary["units"] = study.units;
  const Json declared = declared_parameters();
  summary["parameters"] = values_of(declared);
  summary["changed_parameters"] = Json::array();
  find_changed(declared, "", summary["changed_parameters"]);
  return summary.dump(2) + "\n";
}

std::string parameter_study_json(const ParameterStudy &study)
{
  Json values = {{"schema", study_schema_version},
                 {"version", version_values(libraries)},
                 {"parameters", Json::array()},
                 {"combinations", Json::array()}};
  for (const StudiedParameter &parameter : study.parameters)
    values["parameters"].push_back(parameter.path);
  for (const CombinationRecord &combination : study.combinations) {
    Json entry = {{"parameters", Json::object()}, {"directory", combination.combination.directory}};
    for (std::size_t i = 0; i < study.parameters.size(); ++i)
      entry["parameters"][study.parameters[i].path] = combination.combination.values[i];
    const bool has_cycles = !combination.study.cycles.empty();
    entry["outcome"] = has_cycles ? outcome_of(combination.study) : failed;
    entry["failure"] = Json();
    if (const auto &failure = combination.failure)
      entry["failure"] = {{"exit_code", static_cast<int>(failure->code)},
                          {"message", failure->text}};
    entry["ranks"] = combination.study.n_ranks;
    entry["total_seconds"] = combination.study.total_seconds;
    entry.update(results_of(combination.study));
    values["combinations"].push_back(std::move(entry));
  }
  return values.dump(2) + "\n";
}

std::string version_text()
{
  return version_text("femgpu", libraries);
}
} // namespace femgpu
