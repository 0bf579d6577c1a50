#ifndef femgpu_linalg_powers_cache_blocks_h
#define femgpu_linalg_powers_cache_blocks_h

#include "linalg/powers/scaled_matrix.h"

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

  /// Takes what find() has found before.
  void set(int begin, int end, const int *ghosts, std::size_t n_ghosts);

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

/// Rows of A in blocks for teams, each with the rows of its ghosts; see MatrixPowers.
struct CacheBlocks
{
  int depth = 0, log_slice = 0;
  std::vector<int> starts;               ///< blocks + 1: own rows
  std::vector<int> counts;               ///< depth + 1 a block: unknowns within each distance
  std::vector<std::size_t> ghost_starts; ///< blocks + 1
  std::vector<int> ghosts;
  std::vector<int> first_slices;         ///< blocks + 1
  std::vector<std::size_t> slice_starts; ///< slices + 1
  std::vector<std::uint16_t> columns;    ///< in the block's numbers
  std::vector<double> values;
  int most_scratch = 0; ///< doubles of two vectors of a block
  int most_rows = 0;    ///< of a block, with ghosts
  double work = 1.;     ///< rows computed in a sweep, for each that is needed
  std::string obstacle; ///< why there are no such blocks; empty if there are

  int n_blocks() const
  {
    return static_cast<int>(starts.size()) - 1;
  }
  std::size_t n_stored() const
  {
    return slice_starts.empty() ? 0 : slice_starts.back();
  }
};

/// What blocks may need.
struct CacheBlockLimits
{
  int scratch = 0; ///< doubles of a team
  double most_work = 3.;
};

/// The pattern of blocks for sweeps of @p depth steps, or the obstacle. Slices have 2^log_slice
/// rows.
CacheBlocks plan_blocks(const HostCsr &A, const std::vector<int> &starts, int depth, int log_slice,
                        const CacheBlockLimits &limits);

/// Fills in columns and values.
void fill_blocks(const ScaledMatrix &A, CacheBlocks &blocks);

/// Bytes that a sweep reads and writes.
std::size_t sweep_bytes(const CacheBlocks &blocks, int n_steps);

/// Equal blocks of @p block rows, the last perhaps shorter.
std::vector<int> equal_blocks(int n, int block);
} // namespace femgpu::linalg

#endif
