#include "app/convergence.h"

#include "app/extrapolation.h"
#include "app/quantity_table.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace femgpu
{
namespace
{
// An observed order may stay this much below the expected one.
constexpr double order_tolerance = 0.1;

/// What h^-dim grows with from cycle to cycle: dofs where cells have different sizes.
double size_of(const StudyRecord &study, const CycleRecord &cycle)
{
  return static_cast<double>(study.is_adaptive ? cycle.dofs : cycle.cells);
}

/// The order of the error that @p error_of(cycle) gives, if it does.
template <class ErrorOf>
std::optional<double> order_of(const StudyRecord &study, const std::size_t cycle,
                               const ErrorOf &error_of)
{
  if (cycle == 0 || cycle >= study.cycles.size())
    return {};
  const CycleRecord &before = study.cycles[cycle - 1], &now = study.cycles[cycle];
  const std::optional<double> e0 = error_of(before), e1 = error_of(now);
  const double ratio = size_of(study, now) / size_of(study, before);
  if (!e0 || !e1 || !(*e0 > 0.) || !(*e1 > 0.) || ratio == 1.)
    return {};
  return study.dimension * std::log(*e0 / *e1) / std::log(ratio);
}

/// s of error ~ dofs^-s in H1, by least squares over the later half of the cycles.
double rate_by_dofs(const StudyRecord &study)
{
  const std::size_t n = study.cycles.size(), first = n / 2;
  double x_mean = 0., y_mean = 0., xy = 0., xx = 0.;
  const auto x = [&](std::size_t i) { return std::log(double(study.cycles[i].dofs)); };
  const auto y = [&](std::size_t i) { return -std::log(study.cycles[i].errors->H1); };
  for (std::size_t i = first; i < n; ++i) {
    x_mean += x(i) / static_cast<double>(n - first);
    y_mean += y(i) / static_cast<double>(n - first);
  }
  for (std::size_t i = first; i < n; ++i) {
    xy += (x(i) - x_mean) * (y(i) - y_mean);
    xx += (x(i) - x_mean) * (x(i) - x_mean);
  }
  return xy / xx;
}

std::vector<Verdict> adaptive_verdicts(const StudyRecord &study)
{
  const CycleRecord &last = study.cycles.back();
  const std::size_t first = study.cycles.size() / 2;
  if (study.cycles.size() < first + 3 || !last.errors || last.dofs == study.cycles[first].dofs)
    return {};
  Verdict verdict;
  verdict.norm = "H1";
  verdict.is_by_dofs = true;
  verdict.expected = static_cast<double>(study.degree) / study.dimension;
  verdict.is_exact = last.errors->H1 <= rounding_level * last.errors->exact_H1;
  if (!verdict.is_exact)
    verdict.observed = rate_by_dofs(study);
  verdict.holds =
      verdict.is_exact || verdict.observed >= verdict.expected - order_tolerance / study.dimension;
  return {verdict};
}
} // namespace

std::optional<double> observed_order(const StudyRecord &study, const std::size_t cycle,
                                     double ErrorNorms::*norm)
{
  return order_of(study, cycle, [&](const CycleRecord &record) {
    return record.errors ? std::optional<double>((*record.errors).*norm) : std::nullopt;
  });
}

std::optional<double> estimated_order(const StudyRecord &study, const std::size_t cycle)
{
  return order_of(study, cycle, [&](const CycleRecord &record) {
    return record.estimate ? std::optional<double>(record.estimate->error) : std::nullopt;
  });
}

std::vector<Verdict> verdicts(const StudyRecord &study)
{
  std::vector<Verdict> result;
  const std::size_t last = study.cycles.size() - 1;
  if (study.cycles.size() < 2 || !study.converged())
    return result;
  if (study.is_adaptive)
    return adaptive_verdicts(study);
  for (const auto &[name, norm] : error_norms) {
    if (norm == &ErrorNorms::Linf) // its order depends on more than the degree
      continue;
    const auto order = observed_order(study, last, norm);
    if (!order)
      continue;
    Verdict verdict;
    verdict.norm = name;
    verdict.observed = *order;
    verdict.expected = study.degree + (norm == &ErrorNorms::L2 ? 1. : 0.);
    const double size = norm == &ErrorNorms::L2 ? study.cycles[last].errors->exact_L2
                                                : study.cycles[last].errors->exact_H1;
    verdict.is_exact = (*study.cycles[last].errors).*norm < rounding_level * size;
    verdict.holds = verdict.is_exact || verdict.observed >= verdict.expected - order_tolerance;
    result.push_back(verdict);
  }
  return result;
}

std::string to_string(const Verdict &verdict)
{
  std::ostringstream text;
  text.precision(2);
  text << std::fixed << verdict.norm << ": ";
  if (verdict.is_by_dofs)
    text << "error falls like dofs^-" << verdict.observed << ", expected dofs^-"
         << verdict.expected;
  else
    text << "order " << verdict.observed << ", expected " << verdict.expected;
  if (verdict.is_exact)
    text << ": the error is at the level of rounding";
  else
    text << (verdict.holds ? ": as expected"
                           : ": LOWER than expected. Refine further, or look at the smoothness of "
                             "data and solution, and at the solver's tolerance");
  return text.str();
}

void add_cycle(const CycleRecord &cycle, const Escape &escape, dealii::ConvergenceTable &table)
{
  table.add_value("cycle", cycle.cycle);
  table.add_value("cells", static_cast<unsigned int>(cycle.cells));
  table.add_value("dofs", static_cast<unsigned int>(cycle.dofs));
  table.add_value("outcome", escape(linalg::to_string(cycle.solve.report.outcome)));
  // as text: where lines before this one lack the column, it is empty there, and not zero
  if (cycle.solve.nonlinear_iterations > 0)
    table.add_value("nonlinear", std::to_string(cycle.solve.nonlinear_iterations));
  table.add_value("iterations", std::to_string(cycle.solve.linear_iterations));
  table.add_value("residual", scientific(cycle.solve.report.true_residual, 2));
  if (const linalg::EnergyReport &energy = cycle.solve.report.energy; energy.target > 0.) {
    table.add_value("energy error", scientific(energy.error, 2));
    table.add_value("tolerance", scientific(energy.target, 2));
    table.add_value("tolerance from",
                    escape(cycle.predicted ? cycle.predicted->source : "Energy tolerance"));
  }
}

namespace
{
void add_errors(const CycleRecord &cycle, dealii::ConvergenceTable &table,
                std::vector<std::string> &columns)
{
  const auto add = [&](const std::string &column, const double error) {
    table.add_value(column, error);
    if (std::find(columns.begin(), columns.end(), column) == columns.end())
      columns.push_back(column);
  };
  if (cycle.errors)
    for (const auto &[name, norm] : error_norms)
      add(std::string(name) + " error", (*cycle.errors).*norm);
  if (!cycle.estimate)
    return;
  add("estimated error", cycle.estimate->error);
  if (cycle.estimate->effectivity) {
    table.add_value("effectivity", *cycle.estimate->effectivity);
    table.set_precision("effectivity", 3);
  }
}

dealii::ConvergenceTable make_convergence_table(const StudyRecord &study, const Escape &escape)
{
  dealii::ConvergenceTable table;
  std::vector<std::string> columns; // of errors
  table.set_auto_fill_mode(true);   // a cycle that failed has no errors and quantities
  for (const CycleRecord &cycle : study.cycles) {
    add_cycle(cycle, escape, table);
    add_errors(cycle, table, columns);
    table.add_value("seconds", cycle.total_seconds);
  }
  table.set_precision("seconds", 3);
  for (const std::string &column : columns) {
    table.set_scientific(column, true);
    table.set_precision(column, 3);
    if (study.cycles.size() > 1)
      table.evaluate_convergence_rates(column, study.is_adaptive ? "dofs" : "cells",
                                       dealii::ConvergenceTable::reduction_rate_log2,
                                       static_cast<unsigned int>(study.dimension));
  }
  table.start_new_row(); // fills up the columns that a failed last cycle has left short
  return table;
}
} // namespace

TableTexts convergence_table(const StudyRecord &study)
{
  std::vector<std::string> remarks;
  for (const Verdict &verdict : verdicts(study))
    remarks.push_back(to_string(verdict));
  for (const Extrapolation &extrapolation : extrapolations(study))
    remarks.push_back(to_string(extrapolation));
  TableTexts texts =
      table_texts([&](const Escape &escape) { return make_convergence_table(study, escape); });
  append(quantity_table(study), texts);
  return with_remarks(std::move(texts), remarks);
}

std::vector<std::string> csv_columns(const std::vector<const StudyRecord *> &studies)
{
  std::vector<std::string> columns = {"cycle",
                                      "cells",
                                      "dofs",
                                      "nonzeros",
                                      "h",
                                      "outcome",
                                      "nonlinear_iterations",
                                      "linear_iterations",
                                      "true_residual"};
  bool has_errors = false, has_norms = false, has_estimates = false, has_energy_errors = false;
  for (const StudyRecord *study : studies)
    for (const CycleRecord &cycle : study->cycles) {
      has_errors = has_errors || cycle.errors;
      has_norms = has_norms || cycle.norms;
      has_estimates = has_estimates || cycle.estimate;
      has_energy_errors = has_energy_errors || cycle.solve.report.energy.target > 0.;
      for (const Quantity &quantity : cycle.quantities)
        if (std::find(columns.begin(), columns.end(), quantity.name) == columns.end())
          for (const std::string &column : quantity_columns(quantity))
            columns.push_back(column);
    }
  const auto append = [&](const bool really, const std::vector<std::string> &more) {
    if (really)
      columns.insert(columns.end(), more.begin(), more.end());
  };
  for (const auto &norm : error_norms)
    append(has_errors, {std::string(norm.name) + "_error", std::string(norm.name) + "_order"});
  append(has_norms, {"L2_norm", "H1_norm"});
  append(has_estimates, {"estimated_error", "estimated_order", "effectivity"});
  append(has_energy_errors, {"energy_error", "energy_tolerance", "energy_tolerance_from"});
  for (const std::string &phase : phase_names())
    columns.push_back(phase + "_seconds");
  append(true, {"total_seconds", "transfer_bytes", "transfer_overlapped_seconds"});
  return columns;
}

std::map<std::string, std::string> csv_values(const StudyRecord &study, const CycleRecord &cycle)
{
  std::map<std::string, std::string> values = {
      {"cycle", std::to_string(cycle.cycle)},
      {"cells", std::to_string(cycle.cells)},
      {"dofs", std::to_string(cycle.dofs)},
      {"nonzeros", std::to_string(cycle.nonzeros)},
      {"h", in_full(cycle.h)},
      {"outcome", linalg::to_string(cycle.solve.report.outcome)},
      {"nonlinear_iterations", std::to_string(cycle.solve.nonlinear_iterations)},
      {"linear_iterations", std::to_string(cycle.solve.linear_iterations)},
      {"true_residual", in_full(cycle.solve.report.true_residual)},
      {"total_seconds", in_full(cycle.total_seconds)},
      {"transfer_bytes", std::to_string(cycle.solve.report.costs.transfer.bytes)},
      {"transfer_overlapped_seconds",
       in_full(cycle.solve.report.costs.transfer.overlapped_seconds)}};
  const auto set = [&](const std::string &column, const std::optional<double> &value) {
    if (value)
      values[column] = in_full(*value);
  };
  for (const Quantity &quantity : cycle.quantities) {
    const QuantityChange change = quantity_change(study, cycle.cycle, quantity);
    set(quantity.name, quantity.value);
    set(quantity.name + "_difference", change.difference);
    set(quantity.name + "_order", change.order);
  }
  for (const auto &norm : error_norms)
    if (cycle.errors) {
      set(std::string(norm.name) + "_error", (*cycle.errors).*norm.norm);
      set(std::string(norm.name) + "_order", observed_order(study, cycle.cycle, norm.norm));
    }
  if (cycle.norms) {
    set("L2_norm", cycle.norms->L2);
    set("H1_norm", cycle.norms->H1);
  }
  if (cycle.estimate) {
    set("estimated_error", cycle.estimate->error);
    set("estimated_order", estimated_order(study, cycle.cycle));
    set("effectivity", cycle.estimate->effectivity);
  }
  if (const linalg::EnergyReport &energy = cycle.solve.report.energy; energy.target > 0.) {
    set("energy_error", energy.error);
    set("energy_tolerance", energy.target);
    values["energy_tolerance_from"] =
        cycle.predicted ? cycle.predicted->source : "Energy tolerance";
  }
  for (const std::string &phase : phase_names()) {
    const auto seconds = cycle.seconds.find(phase);
    set(phase + "_seconds", seconds == cycle.seconds.end() ? 0. : seconds->second);
  }
  return values;
}

std::string convergence_csv(const StudyRecord &study)
{
  const std::vector<std::string> columns = csv_columns({&study});
  std::string text = csv_line(columns);
  for (const CycleRecord &cycle : study.cycles) {
    auto values = csv_values(study, cycle);
    std::vector<std::string> line;
    line.reserve(columns.size());
    for (const std::string &column : columns)
      line.push_back(values[column]);
    text += csv_line(line);
  }
  return text;
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
} // namespace femgpu
