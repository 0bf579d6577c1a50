#include "linalg/powers/cache_blocks.h"

#include <algorithm>
#include <limits>
#include <sstream>

namespace femgpu::linalg
{
void Neighbourhood::clear(const int begin, const int end)
{
  for (const int j : others)
    places[j] = unknown;
  others.clear();
  first = begin;
  last = end;
}

void Neighbourhood::add_neighbours_of(const int row)
{
  for (std::size_t k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k) {
    const int j = A.columns[k];
    if (is_own(j) || places[j] != unknown)
      continue;
    places[j] = 0; // is known, but not its place
    others.push_back(j);
  }
}

bool Neighbourhood::find(const int begin, const int end, const int depth, const std::size_t most)
{
  clear(begin, end);
  const int n_own = end - begin;
  n_within.assign(1, n_own);
  std::size_t from = 0; // the ghosts of the distance before
  for (int distance = 1; distance <= depth; ++distance) {
    const std::size_t to = others.size();
    if (distance == 1)
      for (int i = begin; i < end; ++i)
        add_neighbours_of(i);
    for (std::size_t k = from; k < to; ++k)
      add_neighbours_of(others[k]);
    std::sort(others.begin() + static_cast<std::ptrdiff_t>(to), others.end());
    for (std::size_t k = to; k < others.size(); ++k)
      places[others[k]] = n_own + static_cast<int>(k);
    n_within.push_back(n_own + static_cast<int>(others.size()));
    if (static_cast<std::size_t>(n_within.back()) > most)
      return false;
    from = to;
  }
  return true;
}

void Neighbourhood::set(const int begin, const int end, const int *ghosts,
                        const std::size_t n_ghosts)
{
  clear(begin, end);
  others.assign(ghosts, ghosts + n_ghosts);
  for (std::size_t k = 0; k < n_ghosts; ++k)
    places[others[k]] = end - begin + static_cast<int>(k);
}

namespace
{
/// What the plan of one block gives.
struct PlannedBlock
{
  bool fits = true;
  std::vector<int> counts, ghosts, widths; ///< widths of slices
};

PlannedBlock plan_block(const HostCsr &A, Neighbourhood &near, const int begin, const int end,
                        const int depth, const int log_slice, const std::size_t most)
{
  PlannedBlock plan;
  plan.fits = near.find(begin, end, depth, most);
  if (!plan.fits)
    return plan;
  plan.counts = near.counts();
  plan.ghosts = near.ghosts();
  const int n_rows = plan.counts[depth - 1], size = 1 << log_slice;
  for (int row = 0; row < n_rows; row += size) {
    int width = 0;
    for (int k = row; k < std::min(row + size, n_rows); ++k)
      width = std::max(width, A.row_starts.length(near.row(k)));
    plan.widths.push_back(width);
  }
  return plan;
}

std::vector<PlannedBlock> plan_all(const HostCsr &A, const std::vector<int> &starts,
                                   const int depth, const int log_slice, const std::size_t most)
{
  const int n_blocks = static_cast<int>(starts.size()) - 1;
  std::vector<PlannedBlock> plans(static_cast<std::size_t>(n_blocks));
#pragma omp parallel if (n_blocks > 1)
  {
    Neighbourhood near(A);
#pragma omp for schedule(dynamic, 4)
    for (int b = 0; b < n_blocks; ++b)
      plans[b] = plan_block(A, near, starts[b], starts[b + 1], depth, log_slice, most);
  }
  return plans;
}

void append(CacheBlocks &blocks, const PlannedBlock &plan)
{
  const std::size_t slice = std::size_t{1} << blocks.log_slice;
  blocks.counts.insert(blocks.counts.end(), plan.counts.begin(), plan.counts.end());
  blocks.ghosts.insert(blocks.ghosts.end(), plan.ghosts.begin(), plan.ghosts.end());
  blocks.ghost_starts.push_back(blocks.ghosts.size());
  for (const int width : plan.widths)
    blocks.slice_starts.push_back(blocks.slice_starts.back() +
                                  slice * static_cast<std::size_t>(width));
  blocks.first_slices.push_back(static_cast<int>(blocks.slice_starts.size()) - 1);
  const int n_rows = plan.counts[blocks.depth - 1], n_local = plan.counts[blocks.depth];
  blocks.most_rows = std::max(blocks.most_rows, n_rows);
  blocks.most_scratch = std::max(blocks.most_scratch, n_local + n_rows);
}

std::string needs_scratch(const int b, const std::vector<int> &starts, const int depth,
                          const int scratch)
{
  std::ostringstream text;
  text << "block " << b << ", rows " << starts[b] << " to " << starts[b + 1] - 1
       << ", has so many neighbours within distance " << depth
       << " that two vectors of them do not fit into the " << scratch
       << " doubles of a team's scratch";
  return text.str();
}
} // namespace

CacheBlocks plan_blocks(const HostCsr &A, const std::vector<int> &starts, const int depth,
                        const int log_slice, const CacheBlockLimits &limits)
{
  constexpr std::size_t most_numbers = std::size_t{1} << 16; // of 16 bits
  CacheBlocks blocks;
  blocks.depth = depth;
  blocks.log_slice = log_slice;
  blocks.starts = starts;
  blocks.ghost_starts = {0};
  blocks.first_slices = {0};
  blocks.slice_starts = {0};
  const std::size_t most = std::min(most_numbers, static_cast<std::size_t>(limits.scratch));
  const std::vector<PlannedBlock> plans = plan_all(A, starts, depth, log_slice, most);
  double computed = 0.;
  for (int b = 0; b < blocks.n_blocks(); ++b) {
    if (plans[b].fits)
      append(blocks, plans[b]);
    if (!plans[b].fits || blocks.most_scratch > limits.scratch) {
      blocks.obstacle = needs_scratch(b, starts, depth, limits.scratch);
      return blocks;
    }
    for (int level = 0; level < depth; ++level)
      computed += plans[b].counts[level];
  }
  blocks.work = A.n > 0 ? computed / depth / A.n : 1.;
  if (blocks.work > limits.most_work) {
    std::ostringstream text;
    text.precision(3);
    text << "blocks compute " << blocks.work << " rows for each that is needed, more than "
         << limits.most_work;
    blocks.obstacle = text.str();
  }
  return blocks;
}

namespace
{
void fill_block(const ScaledMatrix &A, CacheBlocks &blocks, const int b, const Neighbourhood &near)
{
  const auto number = static_cast<std::size_t>(b), depth = static_cast<std::size_t>(blocks.depth);
  const int n_rows = blocks.counts[number * (depth + 1) + depth - 1];
  const int size = 1 << blocks.log_slice;
  for (int row = 0; row < (n_rows + size - 1) / size * size; ++row) {
    const int slice = blocks.first_slices[b] + (row >> blocks.log_slice);
    const int i = row < n_rows ? near.row(row) : -1; // none: only padding
    std::size_t k = i < 0 ? 0 : A.A.row_starts[i];
    const std::size_t end = i < 0 ? 0 : A.A.row_starts[i + 1];
    for (std::size_t at = blocks.slice_starts[slice] + (row & (size - 1));
         at < blocks.slice_starts[slice + 1]; at += size, ++k) {
      const bool is_entry = k < end;
      blocks.columns[at] = static_cast<std::uint16_t>(is_entry ? near.place(A.A.columns[k])
                                                      : i < 0  ? 0
                                                               : row);
      blocks.values[at] = is_entry ? A.value(k) : 0.;
    }
  }
}
} // namespace

void fill_blocks(const ScaledMatrix &A, CacheBlocks &blocks)
{
  const int n_blocks = blocks.n_blocks();
  blocks.columns.resize(blocks.n_stored());
  blocks.values.resize(blocks.n_stored());
#pragma omp parallel if (n_blocks > 1)
  {
    Neighbourhood near(A.A);
#pragma omp for schedule(dynamic, 4)
    for (int b = 0; b < n_blocks; ++b) {
      near.set(blocks.starts[b], blocks.starts[b + 1],
               blocks.ghosts.data() + blocks.ghost_starts[b],
               blocks.ghost_starts[b + 1] - blocks.ghost_starts[b]);
      fill_block(A, blocks, b, near);
    }
  }
}

std::size_t sweep_bytes(const CacheBlocks &blocks, const int n_steps)
{
  const auto n = static_cast<std::size_t>(blocks.starts.back());
  const std::size_t entry = sizeof(double) + sizeof(std::uint16_t);
  return entry * blocks.n_stored() + (sizeof(int) + sizeof(double)) * blocks.ghosts.size() +
         sizeof(double) * n * static_cast<std::size_t>(1 + n_steps);
}

std::vector<int> equal_blocks(const int n, const int block)
{
  std::vector<int> starts;
  for (int i = 0; i < n; i += std::min(block, n - i))
    starts.push_back(i);
  starts.push_back(n);
  return starts;
}
} // namespace femgpu::linalg
