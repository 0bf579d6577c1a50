#ifndef femgpu_physics_group_classes_h
#define femgpu_physics_group_classes_h

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

namespace femgpu
{
/**
 * Ids for elements in groups that may overlap. A class consists of all elements that are in the
 * same groups. Each class gets an id. Thus a group without common elements has one id.
 */
class GroupClasses
{
public:
  /// @param n_elements number of elements, which are in no group yet
  explicit GroupClasses(std::size_t n_elements);

  /**
   * Adds a group.
   * @param members indices of elements, each once
   * @param id id that a class of the group is to get; nullopt: the smallest positive number that no
   * group requests
   */
  void add(const std::vector<std::size_t> &members, std::optional<long long> id);

  struct Ids
  {
    std::vector<long long> of_elements;         ///< 0 for elements in no group
    std::vector<std::set<long long>> of_groups; ///< in the order in which they were added
  };
  /// Numbers the classes. A class takes the id of one of its groups if possible: that of its
  /// smallest group which no class in fewer groups takes. Other classes get unused positive
  /// numbers.
  Ids ids() const;

private:
  std::vector<std::size_t> class_sizes() const;
  std::vector<std::size_t> classes_that_take_ids() const;
  std::vector<std::size_t> class_of;             ///< for each element
  std::vector<std::vector<std::size_t>> classes; ///< for each class, its groups, ascending
  std::vector<std::optional<long long>> requested;
};
} // namespace femgpu

#endif
