#include "app/time_report.h"

#include "app/convergence.h"
#include "app/table.h"
#include "common/report_values.h"

#include <algorithm>
#include <sstream>

namespace femgpu
{
namespace
{
using Json = nlohmann::ordered_json;
} // namespace

std::string to_string(const StepRecord &step)
{
  std::ostringstream text;
  text.precision(6);
  text << "step " << step.step << " to t = " << step.t << " with length " << step.length << ": "
       << (step.is_accepted ? "accepted" : "rejected");
  text.precision(3);
  if (step.error)
    text << ", error " << *step.error << " of the tolerance";
  if (step.nonlinear_iterations > 0)
    text << ", " << step.nonlinear_iterations << " nonlinear iterations";
  text << ", " << step.linear_iterations << " linear iterations";
  if (!step.remark.empty())
    text << " (" << step.remark << ")";
  return text.str();
}

std::size_t n_accepted(const TimeHistory &history)
{
  return static_cast<std::size_t>(
      std::count_if(history.steps.begin(), history.steps.end(),
                    [](const StepRecord &step) { return step.is_accepted; }));
}

std::vector<Quantity> quantities_of(const EnergyBalance &energy)
{
  return {nonnegative_quantity("kinetic energy", energy.kinetic),
          nonnegative_quantity("dissipated energy", energy.dissipated),
          {"external work", energy.work},
          {"energy balance error", energy.relative_error(), false}};
}

std::string steps_csv(const StudyRecord &study)
{
  std::ostringstream text;
  text.precision(digits_of_time);
  text << "cycle,step,time,length,accepted,error,nonlinear_iterations,linear_iterations,set_ups,"
          "seconds,";
  const auto has_energy = [](const StepRecord &step) { return step.energy.has_value(); };
  const bool is_dynamic =
      std::any_of(study.cycles.begin(), study.cycles.end(), [&](const CycleRecord &cycle) {
        return std::any_of(cycle.history->steps.begin(), cycle.history->steps.end(), has_energy);
      });
  if (is_dynamic)
    text << "kinetic_energy,strain_energy,dissipated_energy,external_work,balance_error,";
  text << "remark\n";
  for (const CycleRecord &cycle : study.cycles)
    for (const StepRecord &s : cycle.history->steps) {
      text << cycle.cycle << ',' << s.step << ',' << s.t << ',' << s.length << ','
           << (s.is_accepted ? 1 : 0) << ',';
      if (s.error)
        text << *s.error;
      std::string remark = s.remark;
      std::replace(remark.begin(), remark.end(), '"', '\'');
      text << ',' << s.nonlinear_iterations << ',' << s.linear_iterations << ',' << s.set_ups << ','
           << s.seconds << ',';
      if (s.energy)
        text << s.energy->kinetic << ',' << s.energy->strain << ',' << s.energy->dissipated << ','
             << s.energy->work << ',' << s.energy->relative_error() << ',';
      else if (is_dynamic)
        text << ",,,,,";
      text << '"' << remark << "\"\n";
    }
  return text.str();
}

std::string time_csv(const StudyRecord &study)
{
  Table table;
  for (const CycleRecord &cycle : study.cycles)
    for (const TimePoint &point : cycle.history->points) {
      Row row = {{"cycle", std::to_string(cycle.cycle)},
                 {"output", std::to_string(point.output)},
                 {"step", std::to_string(point.step)},
                 {"time", general(point.t, digits_of_time)}};
      for (const Quantity &quantity : point.quantities)
        row.push_back({quantity.name, general(quantity.value)});
      if (point.errors)
        for (const auto &[name, norm] : error_norms)
          row.push_back({std::string(name) + "_error", general((*point.errors).*norm)});
      table.push_back(std::move(row));
    }
  return table.empty() ? "cycle,output,step,time\n" : csv_of(table);
}

Json time_values(const TimeHistory &history)
{
  const std::size_t accepted = n_accepted(history);
  std::size_t set_ups = 0;
  for (const StepRecord &step : history.steps)
    set_ups += step.set_ups;
  Json values = {{"steps", accepted},
                 {"rejected_steps", history.steps.size() - accepted},
                 {"set_ups", set_ups},
                 {"times", Json::array()},
                 {"quantities", Json::object()}};
  if (history.points.empty())
    return values;
  for (const Quantity &quantity : history.points.back().quantities)
    values["quantities"][quantity.name] = Json::array();
  for (const TimePoint &point : history.points) {
    values["times"].push_back(point.t);
    for (auto &[name, column] : values["quantities"].items()) {
      const auto found =
          std::find_if(point.quantities.begin(), point.quantities.end(),
                       [&, &name = name](const Quantity &q) { return q.name == name; });
      column.push_back(found == point.quantities.end() ? Json() : Json(found->value));
    }
    if (point.errors)
      for (const auto &[name, norm] : error_norms)
        values["errors"][name].push_back((*point.errors).*norm);
  }
  return values;
}
} // namespace femgpu
