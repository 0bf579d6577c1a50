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
 * Team steps that make one row each and need a workspace for it. On a GPU teams have it in shared
 * memory; rows that need more have it in memory, in batches, as all rows have on the host.
 */
namespace femgpu::linalg
{
/// Some rows, or all, in the memory of an executor.
struct RowList
{
  int n;
  Buffer<int> some; ///< n ascending rows; empty for all rows 0 <= i < n

  const int *data() const
  {
    return some.data();
  }
};

inline RowList all_rows(const int n)
{
  return {n, Buffer<int>()};
}

/// For each item of a step: its row, and how large its workspace is and where.
struct RowBatch
{
  const int *rows;                      ///< of the items; nullptr: item i is row i
  int first = 0;                        ///< what is called item 0 is this one
  int scratch = 0;                      ///< doubles of a team
  double *memory = nullptr;             ///< nullptr: each team has its scratch
  const std::size_t *offsets = nullptr; ///< into the memory, of each item and of the end
};

/// The same for a kernel, which knows the size of the teams and whether they have their scratch.
template <int team_size_, bool in_scratch_>
struct Workspaces : RowBatch
{
  static constexpr int team_size = team_size_;
  static constexpr bool in_scratch = in_scratch_;

  FEMGPU_HD
  int row(const int item) const
  {
    return rows == nullptr ? first + item : rows[first + item];
  }
  template <class Team>
  FEMGPU_HD
  double *begin(const Team &team, const int item) const
  {
    if constexpr (in_scratch)
      return team.scratch();
    else
      return memory + offsets[item];
  }
  /// doubles
  FEMGPU_HD
  std::size_t size(const int item) const
  {
    if constexpr (in_scratch)
      return static_cast<std::size_t>(scratch);
    else
      return offsets[item + 1] - offsets[item];
  }
};

struct StoreFlagged
{
  const int *flags, *places;
  int *rows;

  FEMGPU_HD
  void operator()(const int i) const
  {
    if (flags[i] != 0)
      rows[places[i]] = i;
  }
};

/// The rows whose flag is 1; others have 0.
template <class Backend>
RowList flagged_rows(const ExecutorPtr &executor, const Buffer<int> &flags)
{
  const int n = static_cast<int>(flags.size());
  const auto n_flagged = static_cast<int>(total_counts<Backend>(executor, flags.data(), n).sum);
  RowList list{n_flagged, Buffer<int>(executor, static_cast<std::size_t>(n_flagged))};
  if (n_flagged == 0)
    return list;
  Buffer<int> places(executor, flags.size() + 1);
  scan_counts<Backend>(executor, flags.data(), n, places.data());
  Runner<Backend>(*executor).run(
      rows(n, StoreFlagged{flags.data(), places.data(), list.some.data()}));
  return list;
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

/// count(i) for each row i of a list, in host memory.
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

/// A few hundred rows of a list, at random but always the same; all if there are not more.
template <class Backend>
RowList sample_rows(const ExecutorPtr &executor, const RowList &list)
{
  const int most = 512;
  std::mt19937 random(2654435761U);
  std::vector<int> places;
  for (int k = 0; k < std::min(most, list.n); ++k)
    places.push_back(list.n <= most ? k
                                    : static_cast<int>(random() % static_cast<unsigned>(list.n)));
  RowList sample{static_cast<int>(places.size()),
                 Buffer<int>(executor, places.data(), places.size())};
  if (list.data() == nullptr)
    return sample;
  const std::vector<int> rows = counts_to_host<Backend>(executor, sample, ElementOf{list.data()});
  sample.some.copy_from_host(rows.data());
  return sample;
}

/// doubles that hold @p n ints
FEMGPU_HD
std::size_t doubles_for_ints(const std::size_t n)
{
  return (n * sizeof(int) + sizeof(double) - 1) / sizeof(double);
}

/// doubles of a matrix with so many rows and columns
FEMGPU_HD
std::size_t doubles_of_square(const int size)
{
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
}

/**
 * Calls run(batch, n_items) for batches of rows whose workspaces in memory, of sizes[k]
 * doubles for the k-th row of the list, fit into a part of what is free.
 * @throws DeviceError if there is not even memory for one row
 */
template <class Run>
void run_in_memory(const ExecutorPtr &executor, const RowList &list,
                   const std::vector<std::size_t> &sizes, const Run &run)
{
  // doubles: 2 GiB fill a GPU; the host has few rows at work, and new pages cost it much
  const std::size_t most = std::size_t{1} << (executor->backend() == BackendKind::host ? 22 : 28);
  const std::size_t budget = std::min(most, executor->memory().free / 4 / sizeof(double));
  Buffer<double> memory;
  for (int first = 0, last = 0; first < list.n; first = last) {
    std::vector<std::size_t> offsets(1, 0);
    for (; last < list.n && (last == first || offsets.back() + sizes[last] <= budget); ++last)
      offsets.push_back(offsets.back() + sizes[last]);
    const Buffer<std::size_t> device_offsets(executor, offsets.data(), offsets.size());
    if (memory.size() < offsets.back() || memory.size() == 0) {
      memory = Buffer<double>(); // before there is another one
      memory = Buffer<double>(executor, std::max<std::size_t>(offsets.back(), 1));
    }
    run(RowBatch{list.data(), first, 0, memory.data(), device_offsets.data()}, last - first);
    executor->synchronize();
  }
}

/**
 * The scratch with which rows cost least, by a sample of the workspaces that they need: a
 * multiprocessor has the fewer teams the more scratch they have, and rows that need more come
 * again.
 * @return at most @p most; 0 if no row can have so little
 */
inline std::size_t usual_size(std::vector<std::size_t> needs, const std::size_t most)
{
  std::sort(needs.begin(), needs.end());
  std::size_t usual = 0, least = std::numeric_limits<std::size_t>::max();
  std::size_t larger = std::accumulate(needs.begin(), needs.end(), std::size_t{0});
  for (const std::size_t size : needs) {
    larger -= size;
    const std::size_t cost = size * needs.size() + 2 * larger;
    if (size <= most && cost <= least) {
      usual = size;
      least = cost;
    }
  }
  return usual;
}

/// Calls f(workspaces) for teams that are the larger, the larger the workspaces of a batch are: a
/// multiprocessor then has few of them.
template <class Backend, class Function>
void with_workspaces(const RowBatch &batch, const Function &f)
{
  if constexpr (Backend::kind == BackendKind::host)
    f(Workspaces<32, false>{batch}); // one thread all the same
  else if (batch.memory != nullptr)
    f(Workspaces<256, false>{batch});
  else if (batch.scratch <= 1024)
    f(Workspaces<32, true>{batch});
  else if (batch.scratch <= 5600)
    f(Workspaces<128, true>{batch});
  else
    f(Workspaces<256, true>{batch});
}

/**
 * Calls run(batch, n_items) until every row has had a workspace that suffices. The step that it
 * runs says unfit[row] = 1 where the workspace is too small, else 0. On a GPU rows have scratch of
 * the size that most rows need, and then those that are left; what does not fit at all has memory,
 * as all rows have on the host.
 * @param needs needs(list) are the workspaces of a sample of rows in doubles, in host memory
 * @param sizes sizes(list), likewise, are those that rows get in memory
 */
template <class Backend, class Run, class Needs, class Sizes>
void run_rows(const ExecutorPtr &executor, const int n, const Buffer<int> &unfit, const Run &run,
              const Needs &needs, const Sizes &sizes)
{
  const int n_passes = 3, most = Runner<Backend>(*executor).most_scratch();
  RowList left = all_rows(n);
  for (int pass = 0; pass < n_passes && Backend::kind != BackendKind::host && left.n > 0; ++pass) {
    const std::size_t usual =
        usual_size(needs(sample_rows<Backend>(executor, left)), static_cast<std::size_t>(most));
    if (usual == 0)
      break;
    run(RowBatch{left.data(), 0, pass == n_passes - 1 ? most : static_cast<int>(usual)}, left.n);
    left = flagged_rows<Backend>(executor, unfit);
  }
  if (left.n == 0)
    return;
  run_in_memory(executor, left, sizes(left), run);
  if (const auto still = total_counts<Backend>(executor, unfit.data(), n).sum; still > 0)
    throw SolverError("The workspaces of " + std::to_string(still) + " of " + std::to_string(n) +
                      " rows were too small, though made for them. Please report this text.");
}
} // namespace femgpu::linalg

#endif
