#ifndef femgpu_linalg_sparse_column_set_h
#define femgpu_linalg_sparse_column_set_h

#include "linalg/base/host_device.h"

#include <cstddef>

namespace femgpu::linalg
{
/// A set of columns that a team fills, in memory that it is given.
class ColumnSet
{
public:
  /// ints that a set of at most @p most columns needs
  FEMGPU_HD
  static std::size_t size(const int most)
  {
    return static_cast<std::size_t>(table_size(most)) + static_cast<std::size_t>(most) + 1;
  }

  /// So many columns can a set of @p size ints hold, which is at least size(0).
  FEMGPU_HD
  static int most_in(const std::size_t size)
  {
    std::size_t most = 0;
    for (std::size_t table = least_table; table < size && table <= largest_table; table *= 2) {
      const std::size_t list = size - 1 - table;
      const std::size_t fits = list < table / 2 ? list : table / 2;
      most = fits > most ? fits : most;
    }
    return static_cast<int>(most);
  }

  FEMGPU_HD
  ColumnSet(int *memory, const int most)
      : count(memory), list(memory + 1), table(memory + 1 + most), most(most),
        mask(table_size(most) - 1)
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

  /// Beyond the capacity columns are only counted, and some not even that.
  template <class Team>
  FEMGPU_HD
  void insert(const Team &team, const int column)
  {
    if (team.glance(count) > most)
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
    const int place = team.count_up(count);
    if (place < most)
      list[place] = column;
  }

  /// To be called by all threads after the last insert(). More than the capacity: it was too small.
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
    return most;
  }

  /// Needs n_columns() <= capacity(). @param to other memory
  template <class Team>
  FEMGPU_HD
  void store_sorted(const Team &team, int *to) const
  {
    team.sync();
    team.sort(list, *count, to);
    team.sync();
  }

private:
  static constexpr std::size_t least_table = 16;
  static constexpr std::size_t largest_table = std::size_t{1} << 30;

  FEMGPU_HD
  static int table_size(const int most)
  {
    std::size_t size = least_table;
    while (size < 2 * static_cast<std::size_t>(most) && size < largest_table)
      size *= 2;
    return static_cast<int>(size);
  }

  int *count, *list, *table;
  int most, mask;
};
} // namespace femgpu::linalg

#endif
