#ifndef femgpu_linalg_powers_cache_blocks_h
#define femgpu_linalg_powers_cache_blocks_h

#include "linalg/powers/row_blocks.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * The unknowns within some distance of a block of rows in the graph of A: the block's own unknowns,
 * then its ghosts by distance, ascending within each distance. Needs 4 bytes per row of A.
 */
class Neighbourhood
{
public:
  explicit Neighbourhood(const HostCsr &A)
      : A(A), local_indices(static_cast<std::size_t>(A.n), unknown)
  {}

  /// Finds the neighbourhood of rows @p begin to @p end - 1 up to distance @p depth. Returns false
  /// as soon as it has more than @p row_limit unknowns.
  bool find(int begin, int end, int depth, std::size_t row_limit);

  /// Returns the numbers of unknowns within each distance: counts()[l] for distance l.
  const std::vector<int> &counts() const
  {
    return n_within;
  }
  const std::vector<int> &ghosts() const
  {
    return others;
  }
  /// Returns the number in A of the unknown with local number @p k.
  int row(const int k) const
  {
    return k < last - first ? first + k : others[k - (last - first)];
  }
  /// Returns the local number of unknown @p j of A.
  int local_index(const int j) const
  {
    return is_own(j) ? j - first : local_indices[j];
  }

private:
  static constexpr int unknown = -1;

  bool is_own(const int j) const
  {
    return j >= first && j < last;
  }
  void clear(int begin, int end);
  void add_neighbours_of(int row);

  const HostCsr &A;
  int first = 0, last = 0;
  std::vector<int> local_indices; ///< local numbers of ghosts
  std::vector<int> others, n_within;
};

/// A block of rows that one team of threads processes, including the rows of its ghosts; see
/// MatrixPowers.
struct CacheBlock : RowBlock
{
  bool fits = true; ///< whether the block is within the limits; if not, only begin and end are set
  std::vector<int> counts; ///< numbers of unknowns within each distance, see Neighbourhood
  std::vector<char> chunk; ///< data in the order of CacheBlockLayout, with local column numbers
};

/// A CacheBlock in the executor's memory.
struct CacheBlockView : RowBlockView<std::uint16_t>
{
  const int *counts;
};

struct CacheBlockLayout : RowBlockLayout<std::uint16_t>
{
  std::size_t counts;

  CacheBlockLayout(const CacheBlock &block, const int log_slice)
      : RowBlockLayout(block, log_slice), counts(reserve<int>(block.counts.size()))
  {}
  CacheBlockView view(const char *chunk) const
  {
    return {RowBlockLayout::view(chunk), array_at<int>(chunk, counts)};
  }
};

/// A division of the rows of A into cache blocks.
struct CacheBlocks
{
  int depth = 0, log_slice = 0;
  std::vector<CacheBlock> blocks;
  int max_scratch = 0;  ///< largest number of doubles in two vectors of a block
  int max_rows = 0;     ///< largest number of rows of a block, with ghosts
  int longest_row = 0;  ///< entries of the longest row
  double work = 1.;     ///< number of rows computed in a sweep, divided by the number needed
  std::string obstacle; ///< why such blocks are impossible; empty if they are possible
};

/// Limits of cache blocks.
struct CacheBlockLimits
{
  int scratch = 0;      ///< doubles of a team's scratch memory
  double max_work = 3.; ///< maximum of CacheBlocks::work
};

/// Divides the own rows of A into cache blocks for sweeps of @p depth steps. If this is impossible,
/// sets `obstacle` in the result. Slices have 2^log_slice rows.
/// @param starts first row of each block, and the number of own rows
CacheBlocks make_cache_blocks(const ScaledMatrix &A, const std::vector<int> &starts, int depth,
                              int log_slice, const CacheBlockLimits &limits);

/// Divides @p n rows into blocks of length @p block; the last block may be shorter. Returns the
/// first row of each block, and n.
std::vector<int> equal_blocks(int n, int block);
} // namespace femgpu::linalg

#endif
