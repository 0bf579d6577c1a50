#ifndef femgpu_linalg_sparse_row_workspace_h
#define femgpu_linalg_sparse_row_workspace_h

#include "linalg/sparse/row_pattern.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

/**
 * @file
 * Team steps (linalg/steps/steps.h) that process a row per team and need a workspace for each row.
 * On a GPU the workspace is in shared memory (scratch). Rows that need more, and all rows on the
 * host, have workspaces in global memory and are processed in batches.
 */
namespace femgpu::linalg
{
/// A list of some or all rows, in the memory of an executor.
struct RowList
{
  int n;
  Buffer<int> indices = {}; ///< n rows; empty for all rows 0 <= i < n

  const int *data() const
  {
    return indices.data();
  }
};

/// The rows that a step processes, one per item, and the size and location of their workspaces.
struct RowBatch
{
  const int *rows; ///< row of each item; nullptr: item i is row i
  int n_items = 0;
  int first = 0;                        ///< offset that is added to item numbers
  int scratch = 0;                      ///< doubles of scratch per team
  double *memory = nullptr;             ///< nullptr: workspaces are in scratch
  const std::size_t *offsets = nullptr; ///< start of each item's workspace in memory, and the end
};

/// The workspace of a row; the kernel is compiled for workspaces in scratch or in memory.
template <bool in_scratch_>
struct RowWorkspace
{
  static constexpr bool in_scratch = in_scratch_;
  int row;
  double *memory;
  std::size_t size; ///< doubles
};

/// Assigns the rows of a batch to teams. body(team, workspace) processes a row and returns whether
/// the workspace suffices.
template <class Body, int team_size_, bool in_scratch>
struct WithWorkspace
{
  static constexpr int team_size = team_size_, scratch = 0;
  Body body;
  RowBatch batch;
  int *overflowed; ///< for each row: 1 if its workspace was too small, else 0; nullptr: not needed

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int row = batch.rows == nullptr ? batch.first + item : batch.rows[batch.first + item];
    RowWorkspace<in_scratch> workspace{row, nullptr, static_cast<std::size_t>(batch.scratch)};
    if constexpr (in_scratch)
      workspace.memory = team.scratch();
    else {
      workspace.memory = batch.memory + batch.offsets[item];
      workspace.size = batch.offsets[item + 1] - batch.offsets[item];
    }
    const bool fits = body(team, workspace);
    if (team.rank() == 0 && overflowed != nullptr)
      overflowed[row] = fits ? 0 : 1;
  }
};

template <class Backend, int team_size, bool in_scratch, class Body>
void run_teams(const ExecutorPtr &executor, const RowBatch &batch, const Body &body,
               int *const overflowed)
{
  Runner<Backend>(*executor).run(
      teams(batch.n_items, WithWorkspace<Body, team_size, in_scratch>{body, batch, overflowed},
            batch.scratch));
}

/// Runs a batch with larger teams for larger workspaces, because a multiprocessor then holds fewer
/// teams. Body::min_team_size is the size of the smallest team that the body supports.
template <class Backend, class Body>
void run_batch(const ExecutorPtr &executor, const RowBatch &batch, const Body &body,
               int *const overflowed)
{
  if constexpr (Backend::kind == BackendKind::host)
    run_teams<Backend, 32, false>(executor, batch, body, overflowed); // the host runs one thread
                                                                      // per team anyway
  else if (batch.memory != nullptr)
    run_teams<Backend, 256, false>(executor, batch, body, overflowed);
  else if (batch.scratch <= 128)
    run_teams<Backend, Body::min_team_size, true>(executor, batch, body, overflowed);
  else if (batch.scratch <= 1024)
    run_teams<Backend, 32, true>(executor, batch, body, overflowed);
  else if (batch.scratch <= 5600)
    run_teams<Backend, 128, true>(executor, batch, body, overflowed);
  else
    run_teams<Backend, 256, true>(executor, batch, body, overflowed);
}

/// Returns the rows whose flag is 1, in ascending order; the flags of all others must be 0.
template <class Backend>
RowList flagged_rows(const ExecutorPtr &executor, const Buffer<int> &row_flags)
{
  const int n = static_cast<int>(row_flags.size());
  const int *const flags = row_flags.data();
  const auto n_flagged = static_cast<int>(total_counts<Backend>(executor, flags, n).sum);
  RowList list{n_flagged, Buffer<int>(executor, static_cast<std::size_t>(n_flagged))};
  if (n_flagged == 0)
    return list;
  Buffer<int> row_positions(executor, row_flags.size() + 1);
  scan_counts<Backend>(executor, flags, n, row_positions.data());
  Runner<Backend>(*executor).run(rows(n, [flags, positions = row_positions.data(),
                                          flagged = list.indices.data()] FEMGPU_BODY(const int i) {
    if (flags[i] != 0)
      flagged[positions[i]] = i;
  }));
  return list;
}

/// Returns the first row whose flag is 1; -1 if there is none.
template <class Backend>
int first_flagged(const ExecutorPtr &executor, const Buffer<int> &flags)
{
  const RowList list = flagged_rows<Backend>(executor, flags);
  return list.n == 0 ? -1 : list.indices.to_host(1)[0];
}

template <class Count>
struct GatherCounts
{
  const int *rows;
  Count count;
  int *gathered;

  FEMGPU_HD
  void operator()(const int k) const
  {
    gathered[k] = count(rows == nullptr ? k : rows[k]);
  }
};

/// Returns, in host memory, count(i) for each row i of a list.
template <class Backend, class Count>
std::vector<int> counts_to_host(const ExecutorPtr &executor, const RowList &list,
                                const Count &count)
{
  Buffer<int> gathered(executor, static_cast<std::size_t>(list.n));
  Runner<Backend>(*executor).run(
      rows(list.n, GatherCounts<Count>{list.data(), count, gathered.data()}));
  return gathered.to_host();
}

struct ElementOf
{
  const int *values;

  FEMGPU_HD
  int operator()(const int i) const
  {
    return values[i];
  }
};

struct RowLength
{
  RowPatternView pattern;

  FEMGPU_HD
  int operator()(const int i) const
  {
    return pattern.length(i);
  }
};

/// Returns a reproducible random sample of the rows of a list, unsorted and possibly with
/// repetitions; all rows if there are at most @p limit.
template <class Backend>
RowList sample_rows(const ExecutorPtr &executor, const RowList &list, const int limit = 512)
{
  std::mt19937 random(2654435761U);
  std::vector<int> positions;
  for (int k = 0; k < std::min(limit, list.n); ++k)
    positions.push_back(
        list.n <= limit ? k : static_cast<int>(random() % static_cast<unsigned>(list.n)));
  RowList sample{static_cast<int>(positions.size()),
                 Buffer<int>(executor, positions.data(), positions.size())};
  if (list.data() == nullptr)
    return sample;
  const std::vector<int> rows = counts_to_host<Backend>(executor, sample, ElementOf{list.data()});
  sample.indices.copy_from_host(rows.data());
  return sample;
}

/// The number of doubles that hold @p n ints.
FEMGPU_HD
std::size_t doubles_for_ints(const std::size_t n)
{
  return (n * sizeof(int) + sizeof(double) - 1) / sizeof(double);
}

/// The number of doubles of a square matrix.
FEMGPU_HD
std::size_t doubles_of_square(const int size)
{
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
}

/**
 * Calls run(batch) for batches of rows whose workspaces in memory fit into at most a quarter of the
 * free memory. The k-th row of the list needs sizes[k] doubles.
 * @throws DeviceError if there is not enough memory for one row
 */
template <class Run>
void for_each_batch(const ExecutorPtr &executor, const RowList &list,
                    const std::vector<std::size_t> &sizes, const Run &run)
{
  // In doubles: 2 GiB fill a GPU. The host processes few rows at a time, and new pages are
  // expensive.
  const std::size_t limit = std::size_t{1} << (executor->backend() == BackendKind::host ? 22 : 28);
  const std::size_t budget = std::min(limit, executor->memory().free / 4 / sizeof(double));
  Buffer<double> memory;
  for (int first = 0, last = 0; first < list.n; first = last) {
    std::vector<std::size_t> offsets(1, 0);
    for (; last < list.n && (last == first || offsets.back() + sizes[last] <= budget); ++last)
      offsets.push_back(offsets.back() + sizes[last]);
    const Buffer<std::size_t> device_offsets(executor, offsets.data(), offsets.size());
    if (memory.size() < offsets.back() || memory.size() == 0) {
      memory = Buffer<double>(); // freed before allocating anew
      memory = Buffer<double>(executor, std::max<std::size_t>(offsets.back(), 1));
    }
    run(RowBatch{list.data(), last - first, first, 0, memory.data(), device_offsets.data()});
    executor->synchronize();
  }
}

template <class Backend, class Body>
void run_in_memory(const ExecutorPtr &executor, const RowList &list,
                   const std::vector<std::size_t> &sizes, const Body &body, int *const overflowed)
{
  for_each_batch(executor, list, sizes, [&](const RowBatch &batch) {
    run_batch<Backend>(executor, batch, body, overflowed);
  });
}

/**
 * Returns the scratch size per team that minimises the cost of all rows, estimated from a sample of
 * the workspaces that rows need. The more scratch a team has, the fewer teams fit on a
 * multiprocessor; but rows that need more scratch are processed again.
 * @return at most @p limit; 0 if all rows of the sample need more than that
 */
inline std::size_t optimal_scratch_size(std::vector<std::size_t> needs, const std::size_t limit)
{
  std::sort(needs.begin(), needs.end());
  std::size_t best = 0, min_cost = std::numeric_limits<std::size_t>::max();
  std::size_t larger = std::accumulate(needs.begin(), needs.end(), std::size_t{0});
  for (const std::size_t size : needs) {
    larger -= size;
    const std::size_t cost = size * needs.size() + 2 * larger;
    if (size <= limit && cost <= min_cost) {
      best = size;
      min_cost = cost;
    }
  }
  return best;
}

constexpr int few_rows = 512; ///< so few rows that a GPU processes them quickly, however large
                              ///< their scratch is

/**
 * Runs body(team, workspace) until every row has had a sufficient workspace; the body returns
 * whether the workspace was sufficient. On a GPU, rows first get scratch of the size that most rows
 * need; the remaining rows are processed again with more scratch. Rows that do not fit into scratch
 * at all, and all rows on the host, use memory.
 * @param needs needs(list) returns the sizes of the workspaces of a sample of rows in doubles, in
 * host memory
 * @param sizes sizes(list) returns the sizes of the workspaces of rows that use memory, in the same
 * form
 */
template <class Backend, class Body, class Needs, class Sizes>
void run_rows(const ExecutorPtr &executor, const int n, const Body &body, const Needs &needs,
              const Sizes &sizes)
{
  const int n_passes = 3, limit = Runner<Backend>(*executor).max_scratch();
  Buffer<int> overflowed(executor, static_cast<std::size_t>(n));
  RowList remaining{n};
  for (int pass = 0; pass < n_passes && Backend::kind != BackendKind::host && remaining.n > 0;
       ++pass) {
    int scratch = limit;
    if (remaining.n > few_rows && pass < n_passes - 1)
      scratch = static_cast<int>(optimal_scratch_size(
          needs(sample_rows<Backend>(executor, remaining)), static_cast<std::size_t>(limit)));
    if (scratch == 0)
      break;
    run_batch<Backend>(executor, {remaining.data(), remaining.n, 0, scratch}, body,
                       overflowed.data());
    remaining = flagged_rows<Backend>(executor, overflowed);
    if (scratch == limit)
      break;
  }
  if (remaining.n == 0)
    return;
  run_in_memory<Backend>(executor, remaining, sizes(remaining), body, overflowed.data());
  if (const auto n_failed = total_counts<Backend>(executor, overflowed.data(), n).sum; n_failed > 0)
    throw SolverError(
        "The workspaces of " + std::to_string(n_failed) + " of " + std::to_string(n) +
        " rows are too small, which is an error in femgpu. Please report this message.");
}
} // namespace femgpu::linalg

#endif
