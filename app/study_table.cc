#include "app/study_table.h"

#include "app/convergence.h"

#include <map>

namespace femgpu
{
namespace
{
/// All as text: what combinations lack that come before others is empty then, and not zero.
void add_last_cycle(const StudyRecord &study, const Escape &escape, dealii::ConvergenceTable &table)
{
  const CycleRecord &cycle = study.cycles.back();
  const auto add = [&](const std::string &column, const std::string &number) {
    table.add_value(escape(column), number);
  };
  add_cycle(cycle, escape, table);
  for (const Quantity &quantity : cycle.quantities)
    add(quantity.name, fixed(quantity.value, 8));
  for (const auto &[name, norm] : error_norms) {
    if (!cycle.errors)
      break;
    add(std::string(name) + " error", scientific((*cycle.errors).*norm, 3));
    if (const auto order = observed_order(study, cycle.cycle, norm))
      add(std::string(name) + " order", fixed(*order, 2));
  }
  if (cycle.estimate)
    add("estimated error", scientific(cycle.estimate->error, 3));
  const auto seconds = cycle.seconds.find("solve");
  add("solve seconds", fixed(seconds == cycle.seconds.end() ? 0. : seconds->second, 3));
  add("seconds", fixed(study.total_seconds, 3));
}

/// A combination that came to no end has its parameters, and that it failed.
void add_failure(dealii::ConvergenceTable &table)
{
  for (const char *column : {"cycle", "cells", "dofs"})
    table.add_value(column, std::string());
  table.add_value("outcome", std::string(failed));
}

dealii::ConvergenceTable make_study_table(const ParameterStudy &study, const Escape &escape)
{
  dealii::ConvergenceTable table;
  table.set_auto_fill_mode(true); // combinations have different quantities
  const std::vector<std::string> names = short_names(study.parameters);
  for (const CombinationRecord &record : study.combinations) {
    for (std::size_t i = 0; i < names.size(); ++i)
      table.add_value(escape(names[i]), escape(record.combination.values[i]));
    if (record.study.cycles.empty())
      add_failure(table);
    else
      add_last_cycle(record.study, escape, table);
  }
  table.start_new_row(); // fills up the columns that the last combination has left short
  return table;
}
} // namespace

TableTexts study_table(const ParameterStudy &study)
{
  return table_texts([&](const Escape &escape) { return make_study_table(study, escape); });
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
  const auto add_line = [&](const CombinationRecord &record,
                            std::map<std::string, std::string> values) {
    line = record.combination.values;
    for (const std::string &column : columns)
      line.push_back(values[column]);
    line.push_back(record.combination.directory);
    text += csv_line(line);
  };
  for (const CombinationRecord &record : study.combinations) {
    for (const CycleRecord &cycle : record.study.cycles)
      add_line(record, csv_values(record.study, cycle));
    if (record.study.cycles.empty())
      add_line(record, {{"outcome", failed}});
  }
  return text;
}
} // namespace femgpu
