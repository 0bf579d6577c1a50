#include "app/convergence.h"

#include <deal.II/base/convergence_table.h>

#include <cmath>
#include <sstream>

namespace femgpu
{
namespace
{
// An observed order may stay this much below the expected one.
constexpr double order_tolerance = 0.1;
// Errors below this part of the exact solution's norm are rounding.
constexpr double rounding_level = 1e-11;

struct NamedNorm
{
  const char *name;
  double ErrorNorms::*norm;
};
constexpr NamedNorm norms[] = {
    {"L2", &ErrorNorms::L2}, {"H1", &ErrorNorms::H1}, {"Linf", &ErrorNorms::Linf}};
} // namespace

std::optional<double> observed_order(const StudyRecord &study, const std::size_t cycle,
                                     double ErrorNorms::*norm)
{
  if (cycle == 0 || cycle >= study.cycles.size())
    return {};
  const CycleRecord &before = study.cycles[cycle - 1], &now = study.cycles[cycle];
  if (!before.errors || !now.errors || before.cells == now.cells)
    return {};
  const double e0 = (*before.errors).*norm, e1 = (*now.errors).*norm;
  if (!(e0 > 0.) || !(e1 > 0.))
    return {};
  return study.dimension * std::log(e0 / e1) /
         std::log(static_cast<double>(now.cells) / static_cast<double>(before.cells));
}

std::vector<Verdict> verdicts(const StudyRecord &study)
{
  std::vector<Verdict> result;
  const std::size_t last = study.cycles.size() - 1;
  if (study.cycles.size() < 2 || study.is_adaptive || !study.converged())
    return result;
  for (const auto &[name, norm] : norms) {
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
  text << std::fixed << verdict.norm << ": order " << verdict.observed << ", expected "
       << verdict.expected;
  if (verdict.is_exact)
    text << ": the error is at the level of rounding";
  else
    text << (verdict.holds ? ": as expected"
                           : ": LOWER than expected. Refine further, or look at the smoothness of "
                             "data and solution, and at the solver's tolerance");
  return text.str();
}

std::string convergence_table(const StudyRecord &study)
{
  dealii::ConvergenceTable table;
  bool has_errors = false;
  table.set_auto_fill_mode(true); // a cycle that failed has no errors and quantities
  for (const CycleRecord &cycle : study.cycles) {
    table.add_value("cycle", cycle.cycle);
    table.add_value("cells", static_cast<unsigned int>(cycle.cells));
    table.add_value("dofs", static_cast<unsigned int>(cycle.dofs));
    table.add_value("outcome", linalg::to_string(cycle.solve.report.outcome));
    if (cycle.solve.nonlinear_iterations > 0)
      table.add_value("nonlinear", cycle.solve.nonlinear_iterations);
    table.add_value("iterations", cycle.solve.linear_iterations);
    table.add_value("residual", cycle.solve.report.true_residual);
    for (const Quantity &quantity : cycle.quantities) {
      table.add_value(quantity.name, quantity.value);
      table.set_precision(quantity.name, 8);
    }
    if (cycle.errors) {
      has_errors = true;
      for (const auto &[name, norm] : norms)
        table.add_value(std::string(name) + " error", (*cycle.errors).*norm);
    }
    table.add_value("seconds", cycle.total_seconds);
  }
  table.set_scientific("residual", true);
  table.set_precision("residual", 2);
  table.set_precision("seconds", 3);
  if (has_errors)
    for (const auto &[name, norm] : norms) {
      const std::string column = std::string(name) + " error";
      table.set_scientific(column, true);
      table.set_precision(column, 3);
      if (study.cycles.size() > 1)
        table.evaluate_convergence_rates(column, "cells",
                                         dealii::ConvergenceTable::reduction_rate_log2,
                                         static_cast<unsigned int>(study.dimension));
    }
  table.start_new_row(); // fills up the columns that a failed last cycle has left short
  std::ostringstream out;
  table.write_text(out);
  std::string text = out.str();
  for (std::size_t at = 0; (at = text.find("\"\"", at)) != std::string::npos;)
    text.replace(at, 2, " -"); // as deal.II shows rates that do not exist
  return text;
}

std::string convergence_csv(const StudyRecord &study)
{
  std::ostringstream text;
  text.precision(17);
  const bool has_errors = !study.cycles.empty() && study.cycles.front().errors.has_value();
  text
      << "cycle,cells,dofs,nonzeros,h,outcome,nonlinear_iterations,linear_iterations,true_residual";
  if (!study.cycles.empty())
    for (const Quantity &quantity : study.cycles.front().quantities)
      text << ',' << quantity.name;
  for (const auto &norm : norms)
    if (has_errors)
      text << ',' << norm.name << "_error," << norm.name << "_order";
  for (const std::string &phase : phase_names())
    text << ',' << phase << "_seconds";
  text << ",total_seconds,transfer_bytes,transfer_overlapped_seconds\n";
  for (const CycleRecord &cycle : study.cycles) {
    text << cycle.cycle << ',' << cycle.cells << ',' << cycle.dofs << ',' << cycle.nonzeros << ','
         << cycle.h << ',' << linalg::to_string(cycle.solve.report.outcome) << ','
         << cycle.solve.nonlinear_iterations << ',' << cycle.solve.linear_iterations << ','
         << cycle.solve.report.true_residual;
    for (std::size_t i = 0; i < study.cycles.front().quantities.size(); ++i) {
      text << ',';
      if (i < cycle.quantities.size()) // a cycle that failed has none
        text << cycle.quantities[i].value;
    }
    for (const auto &norm : norms)
      if (has_errors) {
        const auto order = observed_order(study, cycle.cycle, norm.norm);
        text << ',';
        if (cycle.errors)
          text << (*cycle.errors).*norm.norm;
        text << ',';
        if (order)
          text << *order;
      }
    for (const std::string &phase : phase_names()) {
      const auto seconds = cycle.seconds.find(phase);
      text << ',' << (seconds == cycle.seconds.end() ? 0. : seconds->second);
    }
    const linalg::Transfer &transfer = cycle.solve.report.transfer;
    text << ',' << cycle.total_seconds << ',' << transfer.bytes << ','
         << transfer.overlapped_seconds << '\n';
  }
  return text.str();
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
