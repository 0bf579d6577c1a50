#include "linalg/powers/row_block_passes.h"

#include "linalg/base/error.h"
#include "linalg/powers/fill_block.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Plans passes one after the other, and tracks the steps that rows have completed.
class RowBlockPassPlanner
{
public:
  RowBlockPassPlanner(const HostCsr &A, const int depth, const int log_slice)
      : A(A), depth(depth), log_slice(log_slice), completed(static_cast<std::size_t>(A.n), 0)
  {}

  RowBlockPass plan(const int begin, const int end)
  {
    RowBlockPass pass;
    pass.begin = begin;
    pass.end = end;
    for (int i = begin; i < end; ++i)
      add(pass, std::exchange(completed[i], static_cast<std::uint8_t>(depth)), depth);
    std::size_t from = 0; // number in the pass of the first row at the previous distance
    for (int target = depth - 1; target > 0; --target) {
      const std::size_t to = pass.from.size();
      find_neighbours(pass, from, to, target);
      for (const auto &[row, was_completed] : found) {
        pass.others.push_back(row);
        add(pass, was_completed, target);
      }
      from = to;
    }
    pass.slice(A, pass.n_rows(), log_slice);
    return pass;
  }

private:
  /// Appends the steps of the current row: those after @p was_completed, up to @p target.
  static void add(RowBlockPass &pass, const int was_completed, const int target)
  {
    pass.from.push_back(static_cast<std::uint8_t>(was_completed + 1));
    pass.to.push_back(static_cast<std::uint8_t>(target));
  }

  /// Finds the rows that are needed, up to step @p target, by the rows with numbers from <= k < to
  /// in the pass. Stores them in `found`, with the number of steps that each has completed.
  void find_neighbours(const RowBlockPass &pass, const std::size_t from, const std::size_t to,
                       const int target)
  {
    found.clear();
    for (std::size_t k = from; k < to; ++k) {
      const int i = pass.row(static_cast<int>(k));
      for (std::size_t entry = A.row_starts[i]; entry < A.row_starts[i + 1]; ++entry)
        if (const int j = A.columns[entry]; completed[j] < target)
          found.emplace_back(j, std::exchange(completed[j], static_cast<std::uint8_t>(target)));
    }
    std::sort(found.begin(), found.end());
  }

  const HostCsr &A;
  int depth, log_slice;
  std::vector<std::uint8_t> completed; ///< completed steps of each row
  std::vector<std::pair<int, std::uint8_t>> found;
};

/// Divides @p n rows into blocks of nearly equal numbers of entries. Returns their first rows, and
/// n.
std::vector<int> starts_by_entries(const HostCsr &A, const int n, const std::size_t max_entries)
{
  const std::size_t n_entries = n > 0 ? A.row_starts[n] : 0;
  const std::size_t n_blocks = n_entries / std::max<std::size_t>(max_entries, 1) + 1;
  const std::size_t share = n_entries / n_blocks + 1;
  std::vector<int> starts(1, 0);
  for (int i = 1; i < n; ++i)
    if (A.row_starts[i + 1] - A.row_starts[starts.back()] > share)
      starts.push_back(i);
  if (n > 0)
    starts.push_back(n);
  return starts;
}

/// Plans passes up to the first one with more than @p max_bytes.
RowBlockPasses plan_passes(const HostCsr &A, const int depth, const std::vector<int> &starts,
                           const std::size_t max_bytes, const int log_slice)
{
  RowBlockPasses result;
  result.depth = depth;
  result.log_slice = log_slice;
  RowBlockPassPlanner planner(A, depth, log_slice);
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    result.passes.push_back(planner.plan(starts[b], starts[b + 1]));
    if (RowBlockPassLayout(result.passes.back(), log_slice).end > max_bytes)
      break;
  }
  return result;
}
} // namespace

std::size_t RowBlockPasses::total_bytes() const
{
  std::size_t sum = 0;
  for (const RowBlockPass &pass : passes)
    sum += RowBlockPassLayout(pass, log_slice).end;
  return sum;
}

std::size_t RowBlockPasses::largest_bytes() const
{
  std::size_t largest = 0;
  for (const RowBlockPass &pass : passes)
    largest = std::max(largest, RowBlockPassLayout(pass, log_slice).end);
  return largest;
}

RowBlockPasses plan_passes_within(const ScaledMatrix &scaled, const int depth,
                                  const std::size_t max_bytes, const int log_slice)
{
  const HostCsr &A = scaled.A;
  constexpr std::size_t entry = sizeof(double) + sizeof(int);
  constexpr int few_rows = 32;
  std::size_t max_entries = max_bytes / entry;
  for (;;) {
    const std::vector<int> starts = starts_by_entries(A, scaled.n_own, max_entries);
    RowBlockPasses result = plan_passes(A, depth, starts, max_bytes, log_slice);
    const std::size_t largest = result.largest_bytes();
    if (largest <= max_bytes)
      return result;
    const RowBlockPass &last = result.passes.back(); // the one that is too large
    if (last.end - last.begin <= few_rows)
      throw DeviceError("A streamed matrix needs " + std::to_string(2 * largest) +
                        " bytes for two blocks of " + std::to_string(last.end - last.begin) +
                        " rows and the neighbouring rows that " + std::to_string(depth) +
                        " steps need, but only " + std::to_string(2 * max_bytes) +
                        " are granted. Raise memory=MB, reduce depth=K, or use ordering rcm.");
    max_entries = std::min(max_entries, A.n_nonzeros) / 4 * 3;
  }
}

void RowBlock::slice(const HostCsr &A, const int n, const int log_slice)
{
  const int size = 1 << log_slice;
  n_sliced = n;
  for (int first = 0; first < n; first += size) {
    int width = 0;
    for (int k = first; k < std::min(first + size, n); ++k)
      width = std::max(width, A.row_starts.length(row(k)));
    const std::size_t next = slice_starts.back() + static_cast<std::size_t>(width) * size;
    if (next > std::numeric_limits<unsigned int>::max())
      throw SolverError(
          "A streamed block of " + std::to_string(n) + " rows would have " + std::to_string(next) +
          " entries with padding, more than the limit of 2^32 - 1. Reduce memory=MB.");
    slice_starts.push_back(static_cast<unsigned int>(next));
  }
}

void fill_pass(const ScaledMatrix &A, const RowBlockPass &pass, const RowBlockPassLayout &layout,
               char *chunk)
{
  fill_block(
      A, pass, layout, [](const int j) { return j; }, chunk);
  copy_array(pass.from, chunk, layout.from);
  copy_array(pass.to, chunk, layout.to);
}
} // namespace femgpu::linalg
