#include "linalg/powers/cache_blocks.h"

#include "linalg/base/parallel.h"
#include "linalg/powers/fill_block.h"

#include <algorithm>
#include <limits>
#include <sstream>

namespace femgpu::linalg
{
void Neighbourhood::clear(const int begin, const int end)
{
  for (const int j : others)
    local_indices[j] = unknown;
  others.clear();
  first = begin;
  last = end;
}

void Neighbourhood::add_neighbours_of(const int row)
{
  for (std::size_t k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k) {
    const int j = A.columns[k];
    if (is_own(j) || local_indices[j] != unknown)
      continue;
    local_indices[j] = 0; // found, but not numbered yet
    others.push_back(j);
  }
}

bool Neighbourhood::find(const int begin, const int end, const int depth,
                         const std::size_t row_limit)
{
  clear(begin, end);
  const int n_own = end - begin;
  n_within.assign(1, n_own);
  std::size_t from = 0; // index of the first ghost at the previous distance
  for (int distance = 1; distance <= depth; ++distance) {
    const std::size_t to = others.size();
    if (distance == 1)
      for (int i = begin; i < end; ++i)
        add_neighbours_of(i);
    for (std::size_t k = from; k < to; ++k)
      add_neighbours_of(others[k]);
    std::sort(others.begin() + static_cast<std::ptrdiff_t>(to), others.end());
    for (std::size_t k = to; k < others.size(); ++k)
      local_indices[others[k]] = n_own + static_cast<int>(k);
    n_within.push_back(n_own + static_cast<int>(others.size()));
    if (static_cast<std::size_t>(n_within.back()) > row_limit)
      return false;
    from = to;
  }
  return true;
}

namespace
{
CacheBlock make_block(const ScaledMatrix &A, Neighbourhood &neighbourhood, const int begin,
                      const int end, const int depth, const int log_slice,
                      const std::size_t row_limit)
{
  CacheBlock block;
  block.begin = begin;
  block.end = end;
  block.fits = neighbourhood.find(begin, end, depth, row_limit);
  if (!block.fits)
    return block;
  block.counts = neighbourhood.counts();
  block.others = neighbourhood.ghosts();
  block.slice(A.A, block.counts[depth - 1], log_slice);
  const CacheBlockLayout layout(block, log_slice);
  block.chunk.resize(layout.end);
  fill_block(
      A, block, layout, [&neighbourhood](const int j) { return neighbourhood.local_index(j); },
      block.chunk.data());
  copy_array(block.counts, block.chunk.data(), layout.counts);
  return block;
}

std::vector<CacheBlock> make_all(const ScaledMatrix &A, const std::vector<int> &starts,
                                 const int depth, const int log_slice, const std::size_t row_limit)
{
  const int n_blocks = static_cast<int>(starts.size()) - 1;
  std::vector<CacheBlock> blocks(static_cast<std::size_t>(n_blocks));
  const int n_threads = std::min(n_loop_threads(), n_blocks);
  std::vector<Neighbourhood> neighbourhood(static_cast<std::size_t>(n_threads), Neighbourhood(A.A));
  const auto make = [&](const int b, const int thread) {
    blocks[b] =
        make_block(A, neighbourhood[thread], starts[b], starts[b + 1], depth, log_slice, row_limit);
  };
  parallel_for_dynamic(n_blocks, 4, make, n_threads);
  return blocks;
}

std::string needs_scratch(const int b, const std::vector<int> &starts, const int depth,
                          const int scratch)
{
  std::ostringstream text;
  text << "block " << b << ", rows " << starts[b] << " to " << starts[b + 1] - 1
       << ", has too many neighbours within distance " << depth << " for the " << scratch
       << " doubles of scratch memory of a team";
  return text.str();
}
} // namespace

CacheBlocks make_cache_blocks(const ScaledMatrix &A, const std::vector<int> &starts,
                              const int depth, const int log_slice, const CacheBlockLimits &limits)
{
  constexpr std::size_t max_numbers = std::size_t{1} << 16; // 16-bit column numbers
  const std::size_t row_limit = std::min(max_numbers, static_cast<std::size_t>(limits.scratch));
  CacheBlocks result;
  result.depth = depth;
  result.log_slice = log_slice;
  result.blocks = make_all(A, starts, depth, log_slice, row_limit);
  for (int i = 0; i < A.A.n; ++i)
    result.longest_row = std::max(result.longest_row, A.A.row_starts.length(i));
  double computed = 0.;
  for (const CacheBlock &block : result.blocks) {
    if (block.fits) {
      const int n_rows = block.counts[depth - 1];
      result.max_rows = std::max(result.max_rows, n_rows);
      result.max_scratch = std::max(result.max_scratch, block.counts[depth] + n_rows);
    }
    if (!block.fits || result.max_scratch > limits.scratch) {
      const auto b = static_cast<int>(&block - result.blocks.data());
      result.obstacle = needs_scratch(b, starts, depth, limits.scratch);
      return result;
    }
    for (int level = 0; level < depth; ++level)
      computed += block.counts[level];
  }
  result.work = A.n_own > 0 ? computed / depth / A.n_own : 1.;
  if (result.work > limits.max_work) {
    std::ostringstream text;
    text.precision(3);
    text << "the blocks compute " << result.work << " rows per needed row, more than "
         << limits.max_work;
    result.obstacle = text.str();
  }
  return result;
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
