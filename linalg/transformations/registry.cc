#include "linalg/transformations/registry.h"

#include "linalg/base/error.h"

namespace femgpu::linalg
{
namespace
{
template <class Function>
struct Entry
{
  Choice choice;
  Function function;
};

#define FEMGPU_ENTRY(name, function, meaning) {{name, meaning}, function},
const std::vector<Entry<ScalingFunction>> &scalings()
{
  static const std::vector<Entry<ScalingFunction>> entries = {FEMGPU_SCALINGS(FEMGPU_ENTRY)};
  return entries;
}

const std::vector<Entry<OrderingFunction>> &orderings()
{
  static const std::vector<Entry<OrderingFunction>> entries = {FEMGPU_ORDERINGS(FEMGPU_ENTRY)};
  return entries;
}
#undef FEMGPU_ENTRY

template <class Function>
std::vector<Choice> choices_of(const std::vector<Entry<Function>> &entries)
{
  std::vector<Choice> choices;
  for (const auto &entry : entries)
    choices.push_back(entry.choice);
  return choices;
}

template <class Function>
Function find(const std::vector<Entry<Function>> &entries, const std::string &what,
              const std::string &name)
{
  for (const auto &entry : entries)
    if (entry.choice.name == name)
      return entry.function;
  throw ParameterError("There is no " + what + " '" + name + "'; use " +
                       names_of(choices_of(entries)) + ".");
}
} // namespace

std::vector<Choice> scaling_choices()
{
  return choices_of(scalings());
}

std::vector<Choice> ordering_choices()
{
  return choices_of(orderings());
}

ScalingFunction find_scaling(const std::string &name)
{
  return find(scalings(), "scaling", name);
}

OrderingFunction find_ordering(const std::string &name)
{
  return find(orderings(), "ordering", name);
}
} // namespace femgpu::linalg
