#include "app/study_report.h"

#include "app/convergence.h"
#include "app/declared_parameters.h"
#include "app/time_report.h"
#include "common/report_values.h"

#include <deal.II/base/parameter_acceptor.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace femgpu
{
namespace
{
using Json = nlohmann::ordered_json;
using linalg::BranchRecord;

/// Did the solve of @p cycle stop at a given error in the energy norm?
bool stops_by_energy(const CycleRecord &cycle)
{
  return cycle.solve.report.energy.target > 0.;
}

/// Returns the source of the energy tolerance of a solve.
std::string tolerance_source(const CycleRecord &cycle)
{
  return cycle.predicted ? cycle.predicted->source : "Energy tolerance";
}
} // namespace

std::string cycle_line(const CycleRecord &record)
{
  const linalg::SolveReport &report = record.solve.report;
  std::ostringstream line;
  line << std::setprecision(3) << "cycle " << record.cycle << ": " << record.cells << " cells, "
       << record.dofs << " dofs, " << linalg::to_string(report.outcome) << ", ";
  if (record.history)
    line << n_accepted(*record.history) << " steps, ";
  if (record.solve.nonlinear_iterations > 0)
    line << record.solve.nonlinear_iterations << " nonlinear iterations, ";
  if (record.solve.linear_iterations > 0 || record.solve.nonlinear_iterations == 0)
    line << record.solve.linear_iterations << " linear iterations, ";
  line << "residual " << std::scientific << report.true_residual;
  if (record.errors)
    line << ", errors L2 " << record.errors->L2 << " H1 " << record.errors->H1 << " Linf "
         << record.errors->Linf;
  if (record.estimate)
    line << ", estimated error " << record.estimate->error;
  const std::size_t shown = std::min(record.quantities.size(), max_quantities_per_line);
  for (std::size_t i = 0; i < shown; ++i)
    line << ", " << record.quantities[i].name << ' ' << std::defaultfloat << std::setprecision(8)
         << record.quantities[i].value;
  if (shown < record.quantities.size())
    line << ", and " << record.quantities.size() - shown << " more quantities";
  line << std::defaultfloat << std::setprecision(3) << ", " << record.total_seconds << " s";
  return line.str();
}

std::string target_reached_text(const CycleRecord &record, const StudyParameters &study)
{
  const std::string &norm = study.target_norm;
  std::ostringstream text;
  text << std::setprecision(3) << "Stopped after cycle " << record.cycle << ": the relative error "
       << (norm == "estimate" ? "estimate" : "in " + norm) << " is " << record.relative_error(norm)
       << ", at most Study/Target error = " << study.target_error << ".";
  return text.str();
}

std::string cycle_details(const CycleRecord &record)
{
  const linalg::Transfer &transfer = record.solve.report.costs.transfer;
  std::ostringstream text;
  text << "  " << record.solve.report.message << '\n' << std::setprecision(3) << "  seconds:";
  for (const std::string &phase : phase_names)
    if (const auto entry = record.seconds.find(phase); entry != record.seconds.end())
      text << ' ' << phase << ' ' << entry->second;
  text << "\n  transfer: " << 1e-6 * static_cast<double>(transfer.bytes) << " MB at "
       << transfer.gigabytes_per_second() << " GB/s, " << transfer.overlapped_seconds
       << " s of it during the assembly";
  return text.str();
}

std::string location_text(const linalg::GroupSolver::Location &location)
{
  const std::string first = std::to_string(location.first_rank),
                    last = std::to_string(location.last_rank);
  return (first == last ? "rank " + first : "ranks " + first + " to " + last) + " with " +
         location.backend + " (" + location.description + ") of " + location.node;
}

std::string locations_text(const std::vector<linalg::GroupSolver::Location> &groups)
{
  if (groups.size() == 1)
    return groups.front().backend + " (" + groups.front().description + ")";
  std::string text = std::to_string(groups.size()) + " solver groups:";
  for (const auto &group : groups)
    text += (group.first_rank > 0 ? "; " : " ") + location_text(group);
  return text;
}

std::string method_text(const StudyRecord &study, const std::string &method)
{
  return std::to_string(study.n_ranks) + (study.n_ranks == 1 ? " rank" : " ranks") +
         "; solving with " + method + " on " + locations_text(study.groups);
}

Row solve_row(const CycleRecord &cycle)
{
  const linalg::SolveReport &report = cycle.solve.report;
  Row row = {{"cycle", std::to_string(cycle.cycle)},
             {"cells", std::to_string(cycle.cells)},
             {"dofs", std::to_string(cycle.dofs)},
             {"outcome", linalg::to_string(report.outcome)}};
  if (cycle.solve.nonlinear_iterations > 0)
    row.push_back({"nonlinear", std::to_string(cycle.solve.nonlinear_iterations)});
  row.push_back({"iterations", std::to_string(cycle.solve.linear_iterations)});
  row.push_back({"residual", scientific(report.true_residual, 2)});
  if (stops_by_energy(cycle)) {
    row.push_back({"energy error", scientific(report.energy.error, 2)});
    row.push_back({"tolerance", scientific(report.energy.target, 2)});
    row.push_back({"tolerance from", tolerance_source(cycle)});
  }
  return row;
}

namespace
{
/// Returns one row per cycle. @see convergence_table()
Table cycle_table(const StudyRecord &study)
{
  Table table;
  for (const CycleRecord &cycle : study.cycles) {
    Row row = solve_row(cycle);
    const auto add_error = [&](const std::string &column, const double error,
                               const std::optional<double> order) {
      row.push_back({column, scientific(error, 3)});
      if (study.cycles.size() > 1)
        row.push_back({column, fixed(order, 2).value_or(""), /* is_order */ true});
    };
    if (cycle.errors)
      for (const auto &[name, norm] : error_norms)
        add_error(std::string(name) + " error", (*cycle.errors).*norm,
                  observed_order(study, cycle.cycle, norm));
    if (cycle.estimate) {
      add_error("estimated error", cycle.estimate->error, estimated_order(study, cycle.cycle));
      row.push_back({"effectivity", fixed(cycle.estimate->effectivity, 3)});
    }
    row.push_back({"seconds", fixed(cycle.total_seconds, 3)});
    table.push_back(std::move(row));
  }
  return table;
}

/// Returns one row per quantity and cycle.
Table quantity_table(const StudyRecord &study)
{
  Table table;
  if (study.cycles.empty())
    return table;
  // The first cycle has all quantities; a failed cycle has none.
  for (const Quantity &quantity : study.cycles.front().quantities)
    for (std::size_t cycle = 0; cycle < study.cycles.size(); ++cycle) {
      const QuantityInCycle q = quantity_in(study, cycle, quantity);
      table.push_back({{"quantity", quantity.name},
                       {"cycle", std::to_string(cycle)},
                       {"value", general(q.value, 10).value_or("")},
                       {"difference", general(q.difference, 3).value_or("")},
                       {"order", general(q.order, 3).value_or("")}});
    }
  return table;
}
} // namespace

TableTexts convergence_table(const StudyRecord &study)
{
  TableTexts texts = format_table(cycle_table(study));
  if (const Table quantities = quantity_table(study); !quantities.empty()) {
    const TableTexts more = format_table(quantities);
    for (const auto text : {&TableTexts::plain, &TableTexts::markdown, &TableTexts::latex})
      texts.*text += "\n" + more.*text;
  }
  std::vector<std::string> remarks;
  for (const Verdict &verdict : verdicts(study))
    remarks.push_back(to_string(verdict));
  for (const Extrapolation &extrapolation : extrapolations(study))
    remarks.push_back(to_string(extrapolation));
  append_remarks(remarks, texts);
  return texts;
}

namespace
{
Json cycle_values(const StudyRecord &study, const CycleRecord &cycle)
{
  Json values = {{"cycle", cycle.cycle}, {"cells", cycle.cells},
                 {"dofs", cycle.dofs},   {"nonzeros", cycle.nonzeros},
                 {"h", cycle.h},         {"solve", report_values(cycle.solve.report)}};
  values["solve"]["nonlinear_iterations"] = cycle.solve.nonlinear_iterations;
  values["solve"]["linear_iterations"] = cycle.solve.linear_iterations;
  values["accuracy"] = Json();
  if (const auto &accuracy = cycle.solve.accuracy)
    values["accuracy"] = {{"energy_norm", std::sqrt(accuracy->energy)},
                          {"internal_forces", accuracy->internal_forces},
                          {"residual", accuracy->residual},
                          {"rounding", accuracy->rounding}};
  if (cycle.errors)
    for (const auto &[name, norm] : error_norms)
      values["errors"][name] = {{"error", (*cycle.errors).*norm},
                                {"order", json_of(observed_order(study, cycle.cycle, norm))}};
  if (cycle.norms)
    values["norms"] = {{"L2", cycle.norms->L2}, {"H1", cycle.norms->H1}};
  if (cycle.estimate) {
    const auto order = estimated_order(study, cycle.cycle);
    values["estimate"] = {{"error", cycle.estimate->error},
                          {"order", json_of(order)},
                          {"relative", cycle.estimate->relative()},
                          {"effectivity", json_of(cycle.estimate->effectivity)}};
  }
  values["energy"] = json_of(cycle.energy);
  values["predicted_error"] = Json();
  if (const auto &predicted = cycle.predicted)
    values["predicted_error"] = {{"error", predicted->error},
                                 {"tolerance", predicted->tolerance},
                                 {"source", predicted->source}};
  values["quantities"] = Json::object();
  for (const Quantity &quantity : cycle.quantities)
    values["quantities"][quantity.name] = quantity.value;
  if (cycle.history)
    values["time"] = time_values(*cycle.history);
  values["seconds"] = Json::object();
  for (const std::string &phase : phase_names)
    if (const auto entry = cycle.seconds.find(phase); entry != cycle.seconds.end())
      values["seconds"][phase] = entry->second;
  values["seconds"]["total"] = cycle.total_seconds;
  return values;
}

/// Returns a value for a CSV file: numbers in full precision, null as an empty string.
std::string csv_text(const Json &value)
{
  if (value.is_number_float())
    return *general(value.get<double>());
  return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
}
} // namespace

Row csv_row(const StudyRecord &study, const CycleRecord &cycle)
{
  Row row;
  const Json values = cycle_values(study, cycle);
  const auto add = [&](const std::string &column, const std::string &path) {
    const Json::json_pointer location(path);
    row.push_back({column, {}}); // even without a value, to fix the position of the column
    if (values.contains(location))
      row.back().text = csv_text(values[location]);
  };
  for (const std::string name : {"cycle", "cells", "dofs", "nonzeros", "h"})
    add(name, "/" + name);
  for (const std::string name :
       {"outcome", "nonlinear_iterations", "linear_iterations", "true_residual"})
    add(name, "/solve/" + name);
  for (const Quantity &quantity : cycle.quantities) {
    const QuantityInCycle q = quantity_in(study, cycle.cycle, quantity);
    row.push_back({quantity.name, general(q.value)});
    if (quantity.has_limit) {
      row.push_back({quantity.name + "_difference", general(q.difference).value_or("")});
      row.push_back({quantity.name + "_order", general(q.order).value_or("")});
    }
  }
  for (const auto &norm : error_norms)
    for (const std::string what : {"error", "order"})
      add(norm.first + ("_" + what), "/errors/" + (norm.first + ("/" + what)));
  for (const std::string norm : {"L2", "H1"})
    add(norm + "_norm", "/norms/" + norm);
  for (const std::string what : {"error", "order"})
    add("estimated_" + what, "/estimate/" + what);
  add("effectivity", "/estimate/effectivity");
  const bool is_by_energy = stops_by_energy(cycle);
  add("energy_error", is_by_energy ? "/solve/energy_error" : "/nothing");
  add("energy_tolerance", is_by_energy ? "/solve/energy_target" : "/nothing");
  row.push_back({"energy_tolerance_from",
                 is_by_energy ? tolerance_source(cycle) : std::optional<std::string>()});
  for (const std::string &phase : phase_names)
    row.push_back({phase + "_seconds", general(cycle.seconds_of(phase))});
  add("total_seconds", "/seconds/total");
  for (const std::string what : {"bytes", "overlapped_seconds"})
    add("transfer_" + what, "/solve/transfer/" + what);
  return row;
}

std::string convergence_csv(const StudyRecord &study)
{
  Table table;
  for (const CycleRecord &cycle : study.cycles)
    table.push_back(csv_row(study, cycle));
  return csv_of(table);
}

std::string history_csv(const StudyRecord &study)
{
  std::ostringstream text;
  text.precision(10);
  text << "cycle,iteration,residual\n";
  for (const CycleRecord &cycle : study.cycles)
    for (std::size_t k = 0; k < cycle.solve.report.history.size(); ++k)
      text << cycle.cycle << ',' << k << ',' << cycle.solve.report.history[k] << '\n';
  return text.str();
}

std::string branch_csv(const linalg::ContinuationReport &branch)
{
  std::ostringstream text;
  text.precision(17);
  text << "index,kind,branch,arclength,lambda,lambda_dot,max_u,rms_u,residual,residual_target,"
          "corrections,linear_iterations\n";
  for (const BranchRecord &r : branch.records)
    text << r.index << ',' << linalg::to_string(r.kind) << ',' << linalg::branch_name(r.folds)
         << ',' << r.arclength << ',' << r.lambda << ',' << r.lambda_dot << ',' << r.largest_u
         << ',' << r.norm << ',' << r.residual << ',' << r.residual_target << ',' << r.corrections
         << ',' << r.linear_iterations << '\n';
  return text.str();
}

namespace
{
/// Returns the counts, folds and targets of a branch.
Json branch_values(const linalg::ContinuationReport &branch)
{
  Json values;
  add_members<linalg::BranchCounts>(values, branch);
  values["folds"] = Json::array();
  values["targets"] = Json::array();
  for (const BranchRecord &r : branch.records) {
    Json point = {{"lambda", r.lambda},
                  {"max_u", r.largest_u},
                  {"branch", linalg::branch_name(r.folds)},
                  {"arclength", r.arclength}};
    if (r.kind == BranchRecord::Kind::fold)
      values["folds"].push_back(point);
    if (r.kind == BranchRecord::Kind::target)
      values["targets"].push_back(point);
  }
  return values;
}
} // namespace

Json results_of(const StudyRecord &study)
{
  Json values = {{"stopped_by", study.is_finished ? Json(study.stop_reason) : Json()},
                 {"warnings", study.warnings},
                 {"cycles", Json::array()}};
  for (const CycleRecord &cycle : study.cycles)
    values["cycles"].push_back(cycle_values(study, cycle));
  if (study.branch)
    values["continuation"] = branch_values(*study.branch);
  values["verdicts"] = Json::array();
  for (const Verdict &verdict : verdicts(study))
    values["verdicts"].push_back({{"norm", verdict.norm},
                                  {"by", verdict.is_rate_in_dofs ? "dofs" : "h"},
                                  {"observed", verdict.observed},
                                  {"expected", verdict.expected},
                                  {"rounding", verdict.is_exact},
                                  {"holds", verdict.is_met}});
  values["extrapolated"] = Json::array();
  for (const Extrapolation &e : extrapolations(study))
    values["extrapolated"].push_back({{"name", e.name},
                                      {"last", e.last},
                                      {"value", json_of(e.value)},
                                      {"order", json_of(e.order)},
                                      {"relative_error", json_of(e.relative_error)},
                                      {"obstacle", e.obstacle}});
  return values;
}

namespace
{
// Version of the layout of summary.json; incremented by changes that could break a reader.
constexpr int schema_version = 3;

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
      {"version", version_values(library_versions)},
      {"outcome", study.is_finished ? linalg::to_string(study.cycles.back().solve.report.outcome)
                                    : "unfinished"},
      {"physics", study.physics},
      {"dimension", study.dimension},
      {"hypothesis", study.hypothesis.empty() ? Json() : Json(study.hypothesis)},
      {"element", study.element},
      {"degree", study.degree},
      {"mesh",
       {{"boundary_ids", study.boundary_ids},
        {"material_ids", study.material_ids},
        {"origin", study.mesh_origin}}},
      {"ranks", study.n_ranks},
      {"backend",
       {{"name", study.groups.front().backend}, {"description", study.groups.front().description}}},
      {"groups", groups_of(study)},
      {"peak_bytes", {{"host", study.peak_host_bytes}, {"device", study.peak_device_bytes}}},
      {"total_seconds", study.total_seconds}};
  summary.update(results_of(study));
  summary["files"] = study.files;
  summary["units"] = study.units;
  summary["parameters"] = Json::object();
  summary["changed_parameters"] = Json::array();
  for (const DeclaredParameter &p : DeclaredParameters(dealii::ParameterAcceptor::prm).parameters) {
    const Json value = p.json_of(p.value), default_value = p.json_of(p.default_value);
    summary["parameters"][Json::json_pointer("/" + p.path())] = value;
    if (value != default_value)
      summary["changed_parameters"].push_back(
          {{"name", p.path()}, {"value", value}, {"default", default_value}});
  }
  return summary.dump(2) + "\n";
}

std::vector<Quantity> branch_quantities(const linalg::ContinuationReport &branch)
{
  std::vector<Quantity> quantities = {{"points", static_cast<double>(branch.points)}};
  for (const BranchRecord &r : branch.records)
    if (r.kind == BranchRecord::Kind::fold) {
      quantities.push_back({"fold lambda", r.lambda});
      quantities.push_back({"fold max u", r.largest_u});
      break;
    }
  return quantities;
}

SolveSummary branch_summary(const linalg::ContinuationReport &branch, const std::string &method)
{
  SolveSummary summary;
  linalg::SolveReport &report = summary.report;
  report.outcome = branch.outcome;
  report.message = branch.message;
  report.method.solver = method;
  report.method.communicator = branch.communicator;
  report.costs = branch.costs;
  report.iterations = branch.corrections;
  report.method.norm = "‖b + λ W φ(u) − A u‖";
  if (!branch.records.empty()) {
    report.true_residual = report.original.residual = branch.records.back().residual;
    report.target = branch.records.back().residual_target;
  }
  summary.nonlinear_iterations = branch.corrections;
  summary.linear_iterations = branch.linear_iterations;
  return summary;
}

std::string to_string(const BranchRecord &record)
{
  std::ostringstream text;
  text.precision(8);
  text << linalg::to_string(record.kind) << ' ' << record.index << ": lambda " << record.lambda
       << ", max |u| " << record.largest_u << ", " << linalg::branch_name(record.folds)
       << ", arclength " << record.arclength << ", " << record.corrections << " corrections, "
       << record.linear_iterations << " linear iterations";
  return text.str();
}
} // namespace femgpu
