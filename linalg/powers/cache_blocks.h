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
 * The unknowns within some distance of a block of rows in the graph of A: the block's own, then
 * ghosts, ascending within each distance. Needs 4 bytes a row of A while it is used.
 */
class Neighbourhood
{
public:
  explicit Neighbourhood(const HostCsr &A) : A(A), places(static_cast<std::size_t>(A.n), unknown)
  {}

  /// Finds those of the rows @p begin to @p end - 1. False as soon as there are more than @p most.
  bool find(int begin, int end, int depth, std::size_t most);

  /// counts()[l]: unknowns within distance l
  const std::vector<int> &counts() const
  {
    return n_within;
  }
  const std::vector<int> &ghosts() const
  {
    return others;
  }
  /// The row of A that is unknown number @p k here.
  int row(const int k) const
  {
    return k < last - first ? first + k : others[k - (last - first)];
  }
  /// The number here of unknown @p j of A.
  int place(const int j) const
  {
    return is_own(j) ? j - first : places[j];
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
  std::vector<int> places; ///< of ghosts
  std::vector<int> others, n_within;
};

/// A block for a team, with the rows of its ghosts; see MatrixPowers.
struct CacheBlock : RowBlock
{
  bool fits = true;
  std::vector<int> counts; ///< unknowns within each distance, in whose order ghosts are numbered
  std::vector<char> chunk; ///< by CacheBlockLayout, with columns in the block's numbers
};

/// A CacheBlock where steps run.
struct CacheBlockView : RowBlockView<std::uint16_t>
{
  const int *counts;
};

struct CacheBlockLayout : RowBlockLayout<std::uint16_t>
{
  std::size_t counts;

  CacheBlockLayout(const CacheBlock &block, const int log_slice)
      : RowBlockLayout(block, log_slice), counts(take<int>(block.counts.size()))
  {}
  CacheBlockView view(const char *chunk) const
  {
    return {RowBlockLayout::view(chunk), part<int>(chunk, counts)};
  }
};

/// Rows of A in blocks for teams.
struct CacheBlocks
{
  int depth = 0, log_slice = 0;
  std::vector<CacheBlock> blocks;
  int most_scratch = 0; ///< doubles of two vectors of a block
  int most_rows = 0;    ///< of a block, with ghosts
  int longest_row = 0;  ///< entries
  double work = 1.;     ///< rows computed in a sweep, for each that is needed
  std::string obstacle; ///< why there are no such blocks; empty if there are
};

/// What blocks may need.
struct CacheBlockLimits
{
  int scratch = 0; ///< doubles of a team
  double most_work = 3.;
};

/// Blocks of own rows for sweeps of @p depth steps, or the obstacle. Slices have 2^log_slice rows.
CacheBlocks make_cache_blocks(const ScaledMatrix &A, const std::vector<int> &starts, int depth,
                              int log_slice, const CacheBlockLimits &limits);

/// Equal blocks of @p block rows, the last perhaps shorter.
std::vector<int> equal_blocks(int n, int block);
} // namespace femgpu::linalg

#endif
