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

using MakeOrdering = OrderingFunction (*)(Method &);

const std::vector<Entry<MakeOrdering>> &orderings()
{
  static const std::vector<Entry<MakeOrdering>> entries = {FEMGPU_ORDERINGS(FEMGPU_ENTRY)};
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

OrderingFunction find_ordering(const std::string &text)
{
  Method method("ordering", text);
  OrderingFunction ordering = find_entry(orderings(), "ordering", method.name()).function(method);
  method.finish();
  return ordering;
}

OrderingFunction make_natural_ordering(Method & /* method */)
{
  return natural_ordering;
}

OrderingFunction make_reverse_cuthill_mckee(Method & /* method */)
{
  return reverse_cuthill_mckee;
}
} // namespace femgpu::linalg
