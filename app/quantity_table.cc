#include "app/quantity_table.h"

#include <cmath>
#include <iomanip>
#include <sstream>

namespace femgpu
{
namespace
{
/// Those of the first cycle are those of all; a cycle that failed has none.
const std::vector<Quantity> &quantities_of(const StudyRecord &study)
{
  static const std::vector<Quantity> none;
  return study.cycles.empty() ? none : study.cycles.front().quantities;
}

std::optional<double> value_of(const StudyRecord &study, const std::size_t cycle,
                               const std::string &name)
{
  if (cycle < study.cycles.size())
    for (const Quantity &quantity : study.cycles[cycle].quantities)
      if (quantity.name == name)
        return quantity.value;
  return {};
}

/// From the cycle before.
std::optional<double> difference_of(const StudyRecord &study, const std::size_t cycle,
                                    const std::string &name)
{
  if (cycle == 0)
    return {};
  const auto before = value_of(study, cycle - 1, name), now = value_of(study, cycle, name);
  if (!before || !now)
    return {};
  return *now - *before;
}

std::string digits(const std::optional<double> &number, const int n)
{
  std::ostringstream text;
  if (number)
    text << std::setprecision(n) << *number;
  return number ? text.str() : "-";
}
} // namespace

QuantityChange quantity_change(const StudyRecord &study, const std::size_t cycle,
                               const Quantity &quantity)
{
  const std::string &name = quantity.name;
  QuantityChange change;
  if (!quantity.has_limit)
    return change;
  change.difference = difference_of(study, cycle, name);
  if (!change.difference || cycle < 2)
    return change;
  const auto before = difference_of(study, cycle - 1, name);
  const double cells0 = static_cast<double>(study.cycles[cycle - 1].cells),
               cells1 = static_cast<double>(study.cycles[cycle].cells);
  const double rounding = rounding_level * std::abs(*value_of(study, cycle, name));
  if (before && cells0 != cells1 && std::abs(*before) > rounding &&
      std::abs(*change.difference) > rounding)
    change.order = study.dimension * std::log(std::abs(*before / *change.difference)) /
                   std::log(cells1 / cells0);
  return change;
}

namespace
{
dealii::ConvergenceTable make_quantity_table(const StudyRecord &study, const Escape &escape)
{
  dealii::ConvergenceTable table;
  for (const Quantity &quantity : quantities_of(study))
    for (std::size_t cycle = 0; cycle < study.cycles.size(); ++cycle) {
      const QuantityChange change = quantity_change(study, cycle, quantity);
      table.add_value("quantity", escape(quantity.name));
      table.add_value("cycle", static_cast<unsigned int>(cycle));
      table.add_value("value", digits(value_of(study, cycle, quantity.name), 10));
      table.add_value("difference", digits(change.difference, 3));
      table.add_value("order", digits(change.order, 3));
    }
  return table;
}
} // namespace

TableTexts quantity_table(const StudyRecord &study)
{
  if (quantities_of(study).empty())
    return {};
  return table_texts([&](const Escape &escape) { return make_quantity_table(study, escape); });
}

std::vector<std::string> quantity_columns(const Quantity &quantity)
{
  const std::string &name = quantity.name;
  if (!quantity.has_limit)
    return {name};
  return {name, name + "_difference", name + "_order"};
}
} // namespace femgpu
