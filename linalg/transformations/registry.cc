#include "linalg/transformations/registry.h"

#include "linalg/base/registry_entry.h"

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
  return find_entry(scalings(), "scaling", name).function;
}

OrderingFunction find_ordering(const std::string &name)
{
  return find_entry(orderings(), "ordering", name).function;
}
} // namespace femgpu::linalg
