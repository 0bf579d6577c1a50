#include "app/study_table.h"

#include "app/convergence.h"

#include <algorithm>

namespace femgpu
{
namespace
{
struct ErrorColumn
{
  const char *name;
  double ErrorNorms::*norm;
};
constexpr ErrorColumn error_columns[] = {
    {"L2", &ErrorNorms::L2}, {"H1", &ErrorNorms::H1}, {"Linf", &ErrorNorms::Linf}};

/// Adds numbers under the names of columns, which get their precision.
class NumberColumns
{
public:
  NumberColumns(dealii::ConvergenceTable &table, const Escape &escape)
      : table(table), escape(escape)
  {}

  void add(const std::string &name, const double value, const unsigned int digits,
           const bool is_scientific) const
  {
    const std::string column = escape(name);
    table.add_value(column, value);
    table.set_precision(column, digits);
    table.set_scientific(column, is_scientific);
  }

private:
  dealii::ConvergenceTable &table;
  const Escape &escape;
};

void add_last_cycle(const StudyRecord &study, const Escape &escape, dealii::ConvergenceTable &table)
{
  const CycleRecord &cycle = study.cycles.back();
  const NumberColumns numbers(table, escape);
  table.add_value("cycle", cycle.cycle);
  table.add_value("cells", static_cast<unsigned int>(cycle.cells));
  table.add_value("dofs", static_cast<unsigned int>(cycle.dofs));
  table.add_value("outcome", escape(linalg::to_string(cycle.solve.report.outcome)));
  if (cycle.solve.nonlinear_iterations > 0)
    table.add_value("nonlinear", cycle.solve.nonlinear_iterations);
  table.add_value("iterations", cycle.solve.linear_iterations);
  numbers.add("residual", cycle.solve.report.true_residual, 2, true);
  for (const Quantity &quantity : cycle.quantities)
    numbers.add(quantity.name, quantity.value, 8, false);
  for (const auto &[name, norm] : error_columns) {
    if (!cycle.errors)
      break;
    numbers.add(std::string(name) + " error", (*cycle.errors).*norm, 3, true);
    if (const auto order = observed_order(study, cycle.cycle, norm))
      numbers.add(std::string(name) + " order", *order, 2, false);
  }
  if (cycle.estimate)
    numbers.add("estimated error", cycle.estimate->error, 3, true);
  const auto seconds = cycle.seconds.find("solve");
  numbers.add("solve seconds", seconds == cycle.seconds.end() ? 0. : seconds->second, 3, false);
  numbers.add("seconds", study.total_seconds, 3, false);
}

dealii::ConvergenceTable make_table(const ParameterStudy &study, const Escape &escape)
{
  dealii::ConvergenceTable table;
  table.set_auto_fill_mode(true); // combinations have different quantities
  const std::vector<std::string> names = short_names(study.parameters);
  for (const CombinationRecord &record : study.combinations) {
    for (std::size_t i = 0; i < names.size(); ++i)
      table.add_value(escape(names[i]), escape(record.combination.values[i]));
    add_last_cycle(record.study, escape, table);
  }
  table.start_new_row(); // fills up the columns that the last combination has left short
  return table;
}
} // namespace

TableTexts study_table(const ParameterStudy &study)
{
  return table_texts([&](const Escape &escape) { return make_table(study, escape); });
}

std::string study_csv(const ParameterStudy &study)
{
  std::vector<const StudyRecord *> studies;
  for (const CombinationRecord &record : study.combinations)
    studies.push_back(&record.study);
  const std::vector<std::string> columns = csv_columns(studies);
  std::vector<std::string> line;
  for (const StudiedParameter &parameter : study.parameters)
    line.push_back(parameter.path);
  line.insert(line.end(), columns.begin(), columns.end());
  line.emplace_back("directory");
  std::string text = csv_line(line);
  for (const CombinationRecord &record : study.combinations)
    for (const CycleRecord &cycle : record.study.cycles) {
      auto values = csv_values(record.study, cycle);
      line = record.combination.values;
      for (const std::string &column : columns)
        line.push_back(values[column]);
      line.push_back(record.combination.directory);
      text += csv_line(line);
    }
  return text;
}
} // namespace femgpu
