#include "physics/mesh/group_classes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace femgpu
{
GroupClasses::GroupClasses(const std::size_t n_elements) : class_of(n_elements, 0), classes(1)
{}

void GroupClasses::add(const std::vector<std::size_t> &members, const std::optional<long long> id)
{
  const std::size_t group = requested.size();
  requested.push_back(id);
  std::map<std::size_t, std::size_t> divided; // the new class of members of an old class
  for (const std::size_t member : members) {
    const auto [entry, is_new] = divided.emplace(class_of[member], classes.size());
    if (is_new) {
      std::vector<std::size_t> groups = classes[entry->first];
      groups.push_back(group);
      classes.push_back(std::move(groups));
    }
    class_of[member] = entry->second;
  }
}

/// Returns the number of elements of each class. Later groups may have divided a class completely.
std::vector<std::size_t> GroupClasses::class_sizes() const
{
  std::vector<std::size_t> sizes(classes.size(), 0);
  for (const std::size_t of_element : class_of)
    ++sizes[of_element];
  return sizes;
}

/// Returns, for each group, the class that takes its id; 0 if none does. Classes in the fewest
/// groups choose first. Each takes the id of its smallest group.
std::vector<std::size_t> GroupClasses::classes_that_take_ids() const
{
  std::vector<std::size_t> sizes(requested.size(), 0), order, result(requested.size(), 0);
  const std::vector<std::size_t> of_classes = class_sizes();
  for (std::size_t c = 1; c < classes.size(); ++c) {
    if (of_classes[c] > 0)
      order.push_back(c);
    for (const std::size_t group : classes[c])
      sizes[group] += of_classes[c];
  }
  std::stable_sort(order.begin(), order.end(), [&](const std::size_t a, const std::size_t b) {
    return classes[a].size() < classes[b].size();
  });
  for (const std::size_t c : order) {
    std::optional<std::size_t> smallest;
    for (const std::size_t group : classes[c])
      if (result[group] == 0 && (!smallest || sizes[group] < sizes[*smallest]))
        smallest = group;
    if (smallest)
      result[*smallest] = c;
  }
  return result;
}

GroupClasses::Ids GroupClasses::ids() const
{
  std::set<long long> used;
  for (const auto &id : requested)
    if (id)
      used.insert(*id);
  long long unused = 1;
  const auto next_unused = [&] {
    while (used.count(unused) > 0)
      ++unused;
    return unused++;
  };
  std::vector<std::optional<long long>> of_classes(classes.size());
  of_classes[0] = 0;
  const std::vector<std::size_t> takes_id = classes_that_take_ids();
  for (std::size_t group = 0; group < requested.size(); ++group)
    if (takes_id[group] != 0)
      of_classes[takes_id[group]] = requested[group] ? *requested[group] : next_unused();
  Ids result = {{}, std::vector<std::set<long long>>(requested.size())};
  const std::vector<std::size_t> sizes = class_sizes();
  for (std::size_t c = 1; c < classes.size(); ++c) {
    if (sizes[c] == 0)
      continue;
    if (!of_classes[c])
      of_classes[c] = next_unused();
    for (const std::size_t group : classes[c])
      result.of_groups[group].insert(*of_classes[c]);
  }
  for (const std::size_t of_element : class_of)
    result.of_elements.push_back(*of_classes[of_element]);
  return result;
}
} // namespace femgpu
