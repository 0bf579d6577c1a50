#ifndef femgpu_linalg_preconditioners_incomplete_schedule_h
#define femgpu_linalg_preconditioners_incomplete_schedule_h

#include "linalg/base/parallel.h"
#include "linalg/preconditioners/incomplete/pattern.h"

#include <algorithm>
#include <vector>

/**
 * @file
 * The order in which the rows of triangular factors are processed: rows of one level are
 * independent.
 */
namespace femgpu::linalg
{
/// The pattern of factors in host memory.
struct HostFactors
{
  std::vector<int> row_starts, columns, diagonal;
};

/**
 * Returns the level of each row of a triangle: 0 if the row depends on no other row, else one more
 * than the highest level of the rows on which it depends. Runs on the host, with blocks in
 * parallel, limited by memory bandwidth; on a device, rows would wait for each other, which would
 * take seconds.
 */
inline std::vector<int> find_levels(const HostFactors &factors, const BlockPartition &blocks,
                                    const bool is_lower)
{
  std::vector<int> levels(factors.diagonal.size());
  const auto find_in_block = [&](const int block, int /* thread */) {
    const int first = blocks.host.starts[block], last = blocks.host.starts[block + 1] - 1;
    for (int item = first; item <= last; ++item) {
      const int i = is_lower ? item : first + last - item;
      const int begin = is_lower ? factors.row_starts[i] : factors.diagonal[i] + 1;
      const int end = is_lower ? factors.diagonal[i] : factors.row_starts[i + 1];
      int level = 0;
      for (int k = begin; k < end; ++k)
        level = std::max(level, levels[factors.columns[k]] + 1);
      levels[i] = level;
    }
  };
  parallel_for_dynamic(blocks.host.n_blocks(), 1, find_in_block);
  return levels;
}

/// The rows of a triangle in the order of processing: block by block, level by level.
struct RowSchedule
{
  Buffer<int> rows;
  std::vector<int> host_rows;
  std::vector<int> level_starts; ///< the first position of each level in `rows`, then n
  std::vector<int> block_levels; ///< the first level of each block, then the number of levels
  int n_levels = 0;              ///< number of levels of the block with the most levels

  /// Estimates how many of the @p n_items items of a ChainStep (steps.h) are active at one time:
  /// the items of a level, and items of the next levels that are being prepared.
  int items_at_once(const int n_items) const
  {
    return 3 * (n_items / std::max(n_levels, 1) + 1);
  }
};

struct Schedule
{
  RowSchedule lower, upper;
};

/// Sorts the rows of each block by levels.
/// @param levels the level of each row
/// @param backwards whether the rows of a level are in descending rather than ascending order
inline RowSchedule sort_by_levels(const BlockPartition &blocks, const std::vector<int> &levels,
                                  const bool backwards)
{
  RowSchedule schedule;
  schedule.host_rows.resize(levels.size());
  for (int block = 0; block < blocks.host.n_blocks(); ++block) {
    const int begin = blocks.host.starts[block], end = blocks.host.starts[block + 1];
    const int n_levels =
        begin == end ? 0 : 1 + *std::max_element(levels.begin() + begin, levels.begin() + end);
    std::vector<int> offsets(static_cast<std::size_t>(n_levels) + 1, 0);
    for (int i = begin; i < end; ++i)
      ++offsets[levels[i] + 1];
    offsets[0] = begin;
    for (int level = 0; level < n_levels; ++level)
      offsets[level + 1] += offsets[level];
    schedule.block_levels.push_back(static_cast<int>(schedule.level_starts.size()));
    schedule.level_starts.insert(schedule.level_starts.end(), offsets.begin(), offsets.end() - 1);
    for (int k = begin; k < end; ++k) {
      const int i = backwards ? begin + end - 1 - k : k;
      schedule.host_rows[offsets[levels[i]]++] = i;
    }
    schedule.n_levels = std::max(schedule.n_levels, n_levels);
  }
  schedule.block_levels.push_back(static_cast<int>(schedule.level_starts.size()));
  schedule.level_starts.push_back(static_cast<int>(levels.size()));
  return schedule;
}

/**
 * Finds the levels of both triangles of @p factors, and sorts their rows.
 * @param by_levels whether rows are sorted by levels; otherwise each block is one level, for a
 * thread that processes a block alone, with rows in ascending order (lower triangle) or descending
 * order (upper triangle)
 */
inline Schedule make_schedule(const RowPattern &factors, const Buffer<int> &diagonal,
                              const BlockPartition &blocks, const ExecutorPtr &executor,
                              const bool by_levels)
{
  const HostFactors host = {factors.row_starts.to_host(), factors.columns.to_host(),
                            diagonal.to_host()};
  const auto sort = [&](const bool is_lower) {
    const std::vector<int> levels = find_levels(host, blocks, is_lower);
    RowSchedule schedule =
        by_levels ? sort_by_levels(blocks, levels, false)
                  : sort_by_levels(blocks, std::vector<int>(levels.size(), 0), !is_lower);
    schedule.n_levels = levels.empty() || by_levels
                            ? schedule.n_levels
                            : 1 + *std::max_element(levels.begin(), levels.end());
    schedule.rows = Buffer<int>(executor, schedule.host_rows.data(), schedule.host_rows.size());
    return schedule;
  };
  return {sort(true), sort(false)};
}
} // namespace femgpu::linalg

#endif
