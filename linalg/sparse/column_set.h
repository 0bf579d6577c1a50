#ifndef femgpu_linalg_sparse_column_set_h
#define femgpu_linalg_sparse_column_set_h

#include "linalg/base/host_device.h"

#include <cstddef>

namespace femgpu::linalg
{
/**
 * Sorts n numbers in place by all threads of a team, with a bitonic network (Batcher 1968) in the
 * form in which every exchange puts the smaller number first, so that n need not be a power of two.
 */
template <class Team>
FEMGPU_HD
void sort_by_network(const Team &team, int *numbers, const int n)
{
  const auto exchange = [&](const unsigned int i, const unsigned int j) {
    if (j < static_cast<unsigned int>(n) && numbers[i] > numbers[j]) {
      const int larger = numbers[i];
      numbers[i] = numbers[j];
      numbers[j] = larger;
    }
  };
  const auto last = static_cast<unsigned int>(n);
  for (unsigned int half = 1; half < last; half *= 2) {
    // Both halves are in ascending order: compare the i-th number with the i-th from the end of the
    // block.
    for (unsigned int k = team.rank(), block = k / half * 2 * half; block < last;
         k += team.size(), block = k / half * 2 * half)
      exchange(block + k % half, block + 2 * half - 1 - k % half);
    team.sync();
    for (unsigned int step = half / 2; step > 0; step /= 2) {
      for (unsigned int k = team.rank(), block = k / step * 2 * step; block < last;
           k += team.size(), block = k / step * 2 * step)
        exchange(block + k % step, block + k % step + step);
      team.sync();
    }
  }
}

/// A set of columns that a team fills, in memory supplied by the caller.
class ColumnSet
{
public:
  /// The number of ints that a set of at most @p max_size columns needs.
  FEMGPU_HD
  static std::size_t size(const int max_size)
  {
    return static_cast<std::size_t>(table_size(max_size)) + static_cast<std::size_t>(max_size) + 1;
  }

  /// The number of columns that a set of @p size ints can hold; @p size must be at least size(0).
  FEMGPU_HD
  static int capacity_in(const std::size_t size)
  {
    std::size_t max_size = 0;
    for (std::size_t table = min_table_size; table < size && table <= max_table_size; table *= 2) {
      const std::size_t list = size - 1 - table;
      const std::size_t fits = list < table / 2 ? list : table / 2;
      max_size = fits > max_size ? fits : max_size;
    }
    return static_cast<int>(max_size);
  }

  FEMGPU_HD
  ColumnSet(int *memory, const int max_size)
      : count(memory), list(memory + 1), table(memory + 1 + max_size), max_size(max_size),
        mask(table_size(max_size) - 1)
  {}

  template <class Team>
  FEMGPU_HD
  void clear(const Team &team)
  {
    for (int k = team.rank(); k <= mask; k += team.size())
      table[k] = -1;
    if (team.rank() == 0)
      *count = 0;
    team.sync();
  }

  /// Inserts a column. Beyond the capacity, columns are not stored, and only some of them are
  /// counted.
  template <class Team>
  FEMGPU_HD
  void insert(const Team &team, const int column)
  {
    if (team.load_volatile(count) > max_size)
      return;
    unsigned int slot = static_cast<unsigned int>(column) * 2654435761U >> 7;
    for (int probes = 0; probes <= mask; ++probes, ++slot) {
      slot &= static_cast<unsigned int>(mask);
      const int old = team.compare_and_swap(table + slot, -1, column);
      if (old == column)
        return;
      if (old == -1)
        break;
    }
    const int position = team.fetch_increment(count);
    if (position < max_size)
      list[position] = column;
  }

  /// Returns the number of columns; called by all threads after the last insert(). A result greater
  /// than the capacity means that the set was too small.
  template <class Team>
  FEMGPU_HD
  int n_columns(const Team &team) const
  {
    team.sync();
    return *count;
  }
  FEMGPU_HD
  int capacity() const
  {
    return max_size;
  }

  /// Stores the sorted columns; requires n_columns() <= capacity().
  /// @param to must not overlap the set
  template <class Team>
  FEMGPU_HD
  void store_sorted(const Team &team, int *to) const
  {
    team.sync();
    const int n = *count;
    // If there are few numbers per thread, comparing all pairs is cheapest.
    if (Team::size() == 1 || n <= 4 * Team::size())
      team.sort(list, n, to);
    else {
      sort_by_network(team, list, n);
      for (int k = team.rank(); k < n; k += team.size())
        to[k] = list[k];
    }
    team.sync();
  }

private:
  static constexpr std::size_t min_table_size = 16;
  static constexpr std::size_t max_table_size = std::size_t{1} << 30;

  FEMGPU_HD
  static int table_size(const int max_size)
  {
    std::size_t size = min_table_size;
    while (size < 2 * static_cast<std::size_t>(max_size) && size < max_table_size)
      size *= 2;
    return static_cast<int>(size);
  }

  int *count, *list, *table;
  int max_size, mask;
};
} // namespace femgpu::linalg

#endif
