#include "app/field_units.h"

#include "linalg/base/error.h"

#include <deal.II/base/utilities.h>

#include <algorithm>

namespace femgpu
{
using namespace dealii;

template <int dim>
std::map<std::string, std::string> field_units(const std::string &text, const Problem<dim> &problem)
{
  if (text.empty())
    return {};
  const std::vector<std::string> symbols = Utilities::split_string_list(text, ',');
  const std::vector<std::string> wanted = problem.base_units();
  if (symbols.size() != wanted.size() ||
      std::find(symbols.begin(), symbols.end(), "") != symbols.end()) {
    std::string names;
    for (const std::string &name : wanted)
      names += (names.empty() ? "" : ", ") + name;
    throw ParameterError("'" + text + "' of Output/Units has " + std::to_string(symbols.size()) +
                             " units, and the problem needs those of " + names +
                             ", in this order and separated by commas.",
                         "Output/Units");
  }
  std::map<std::string, std::string> units = {{"length", symbols.front()}};
  for (const auto &[field, unit] :
       problem.field_units(std::vector<Unit>(symbols.begin(), symbols.end())))
    units[field] = unit.text();
  return units;
}

template std::map<std::string, std::string> field_units(const std::string &, const Problem<2> &);
template std::map<std::string, std::string> field_units(const std::string &, const Problem<3> &);
} // namespace femgpu
