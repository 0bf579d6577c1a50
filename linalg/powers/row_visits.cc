#include "linalg/powers/row_visits.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace femgpu::linalg
{
namespace
{
std::size_t rounded_up(const std::size_t bytes)
{
  constexpr std::size_t line = 256; // as chunks have it
  return (bytes + line - 1) / line * line;
}

/// How far rows have come, visit by visit.
class VisitPlanner
{
public:
  VisitPlanner(const HostCsr &A, const int depth, const int log_slice)
      : A(A), depth(depth), log_slice(log_slice), done(static_cast<std::size_t>(A.n), 0)
  {}

  RowVisit plan(const int begin, const int end)
  {
    RowVisit visit;
    visit.begin = begin;
    visit.end = end;
    for (int i = begin; i < end; ++i)
      add(visit, std::exchange(done[i], static_cast<std::uint8_t>(depth)), depth);
    std::size_t from = 0; // the rows of the distance before
    for (int target = depth - 1; target > 0; --target) {
      const std::size_t to = visit.from.size();
      find_neighbours(visit, from, to, target);
      for (const auto &[row, was_done] : found) {
        visit.others.push_back(row);
        add(visit, was_done, target);
      }
      from = to;
    }
    slice(visit);
    return visit;
  }

private:
  /// The row at hand goes through the steps after @p was_done, to @p target.
  static void add(RowVisit &visit, const int was_done, const int target)
  {
    visit.from.push_back(static_cast<std::uint8_t>(was_done + 1));
    visit.to.push_back(static_cast<std::uint8_t>(target));
  }

  /// What rows from <= k < to need up to step @p target: rows, and what was done of them.
  void find_neighbours(const RowVisit &visit, const std::size_t from, const std::size_t to,
                       const int target)
  {
    found.clear();
    for (std::size_t k = from; k < to; ++k) {
      const int i = visit.row(static_cast<int>(k));
      for (std::size_t entry = A.row_starts[i]; entry < A.row_starts[i + 1]; ++entry)
        if (const int j = A.columns[entry]; done[j] < target)
          found.emplace_back(j, std::exchange(done[j], static_cast<std::uint8_t>(target)));
    }
    std::sort(found.begin(), found.end());
  }

  void slice(RowVisit &visit) const
  {
    const int n_rows = visit.n_rows(), size = 1 << log_slice;
    for (int row = 0; row < n_rows; row += size) {
      int width = 0;
      for (int k = row; k < std::min(row + size, n_rows); ++k)
        width = std::max(width, A.row_starts.length(visit.row(k)));
      const std::size_t next = visit.slice_starts.back() + static_cast<std::size_t>(width) * size;
      if (next > std::numeric_limits<unsigned int>::max())
        throw SolverError("A streamed block of " + std::to_string(n_rows) + " rows would have " +
                          std::to_string(next) +
                          " entries with padding, more than 2^32 - 1. Grant it less memory.");
      visit.slice_starts.push_back(static_cast<unsigned int>(next));
    }
  }

  const HostCsr &A;
  int depth, log_slice;
  std::vector<std::uint8_t> done; ///< steps of each row
  std::vector<std::pair<int, std::uint8_t>> found;
};

/// First rows of blocks of nearly equal numbers of entries, and n.
std::vector<int> starts_by_entries(const HostCsr &A, const std::size_t most_entries)
{
  const std::size_t n_blocks = A.n_nonzeros / std::max<std::size_t>(most_entries, 1) + 1;
  const std::size_t share = A.n_nonzeros / n_blocks + 1;
  std::vector<int> starts(1, 0);
  for (int i = 1; i < A.n; ++i)
    if (A.row_starts[i + 1] - A.row_starts[starts.back()] > share)
      starts.push_back(i);
  if (A.n > 0)
    starts.push_back(A.n);
  return starts;
}

/// Stops after the first visit with more than @p most_bytes.
RowVisits plan_visits(const HostCsr &A, const int depth, const std::vector<int> &starts,
                      const std::size_t most_bytes, const int log_slice)
{
  RowVisits result;
  result.n = A.n;
  result.depth = depth;
  result.log_slice = log_slice;
  VisitPlanner planner(A, depth, log_slice);
  for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
    result.visits.push_back(planner.plan(starts[b], starts[b + 1]));
    if (VisitOffsets(result.visits.back()).end > most_bytes)
      break;
  }
  return result;
}

/// Where elements of plain data begin in a chunk.
template <class T>
T *place(char *chunk, const std::size_t offset)
{
  return reinterpret_cast<T *>(chunk + offset);
}
} // namespace

VisitOffsets::VisitOffsets(const RowVisit &visit)
{
  const std::size_t n_stored = visit.slice_starts.back();
  columns = rounded_up(n_stored * sizeof(double));
  slice_starts = columns + rounded_up(n_stored * sizeof(int));
  others = slice_starts + rounded_up(visit.slice_starts.size() * sizeof(unsigned int));
  from = others + rounded_up(visit.others.size() * sizeof(int));
  to = from + rounded_up(visit.from.size());
  end = to + rounded_up(visit.to.size());
}

std::size_t RowVisits::total_bytes() const
{
  std::size_t sum = 0;
  for (const RowVisit &visit : visits)
    sum += VisitOffsets(visit).end;
  return sum;
}

std::size_t RowVisits::largest_bytes() const
{
  std::size_t largest = 0;
  for (const RowVisit &visit : visits)
    largest = std::max(largest, VisitOffsets(visit).end);
  return largest;
}

RowVisits plan_visits_within(const HostCsr &A, const int depth, const std::size_t most_bytes,
                             const int log_slice)
{
  constexpr std::size_t entry = sizeof(double) + sizeof(int);
  constexpr int few_rows = 32;
  std::size_t most_entries = most_bytes / entry;
  for (;;) {
    const std::vector<int> starts = starts_by_entries(A, most_entries);
    RowVisits result = plan_visits(A, depth, starts, most_bytes, log_slice);
    const std::size_t largest = result.largest_bytes();
    if (largest <= most_bytes)
      return result;
    const RowVisit &last = result.visits.back(); // the one that is too large
    if (last.end - last.begin <= few_rows)
      throw DeviceError(
          "A streamed matrix needs memory for two blocks: " + std::to_string(2 * largest) +
          " bytes for blocks of " + std::to_string(last.end - last.begin) +
          " rows with the rows that " + std::to_string(depth) + " steps need, and " +
          std::to_string(2 * most_bytes) +
          " are granted. Grant more, take fewer steps a visit, or order the rows by rcm.");
    most_entries = std::min(most_entries, A.n_nonzeros) / 4 * 3;
  }
}

namespace
{
void fill_row(const ScaledMatrix &A, const RowVisit &visit, const int log_slice, const int row,
              int *const columns, double *const values)
{
  const int size = 1 << log_slice, slice = row >> log_slice;
  const int i = row < visit.n_rows() ? visit.row(row) : -1; // none: only padding
  std::size_t k = i < 0 ? 0 : A.A.row_starts[i];
  const std::size_t end = i < 0 ? 0 : A.A.row_starts[i + 1];
  for (std::size_t at = visit.slice_starts[slice] + static_cast<unsigned int>(row & (size - 1));
       at < visit.slice_starts[slice + 1]; at += size, ++k) {
    columns[at] = k < end ? A.A.columns[k] : std::max(i, 0);
    values[at] = k < end ? A.value(k) : 0.;
  }
}

template <class T>
void copy(const std::vector<T> &from, char *chunk, const std::size_t offset)
{
  if (!from.empty())
    std::memcpy(chunk + offset, from.data(), from.size() * sizeof(T));
}
} // namespace

void fill_visit(const ScaledMatrix &A, const RowVisit &visit, const int log_slice, char *chunk)
{
  const VisitOffsets offsets(visit);
  double *const values = place<double>(chunk, offsets.values);
  int *const columns = place<int>(chunk, offsets.columns);
  const int n_rows = (static_cast<int>(visit.slice_starts.size()) - 1) << log_slice;
#pragma omp parallel for schedule(static)
  for (int row = 0; row < n_rows; ++row)
    fill_row(A, visit, log_slice, row, columns, values);
  copy(visit.slice_starts, chunk, offsets.slice_starts);
  copy(visit.others, chunk, offsets.others);
  copy(visit.from, chunk, offsets.from);
  copy(visit.to, chunk, offsets.to);
}
} // namespace femgpu::linalg
