#include "linalg/execution/this_backend.h"
#include "linalg/powers/basis_step.h"
#include "linalg/powers/forms.h"
#include "linalg/powers/sweep_shape.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Data of a sweep of n_steps steps from V[first] on, shared by SweepFromMemory and
/// SweepFromRegisters.
struct Sweep
{
  const CacheBlockView *blocks;
  int depth; ///< depth for which the blocks were made
  Columns V;
  int first, n_steps;
  BasisStep steps[MatrixPowers::max_depth];

  /// Loads V[first] to v and, if the first step needs it, V[first - 1] to w, for the unknowns of a
  /// block.
  template <class Team>
  FEMGPU_HD
  void begin(const Team &team, const CacheBlockView &block, double *v, double *w) const
  {
    gather(team, block, V[first], block.counts[n_steps], v);
    if (steps[0].square != 0.)
      gather(team, block, V[first - 1], block.counts[n_steps - 1], w);
    team.sync();
  }

  /// Loads the first @p n unknowns of a block from a vector of all rows.
  template <class Team>
  FEMGPU_HD
  static void gather(const Team &team, const CacheBlockView &block, const double *global,
                     const int n, double *v)
  {
    for (int l = team.rank(); l < n; l += team.size())
      v[l] = global[block.row(l)];
  }

  /// Completes row @p l of step @p k, 0 <= k < n_steps: replaces v_{k-1} in w by v_{k+1}.
  FEMGPU_HD
  void finish_row(const CacheBlockView &block, const int k, const int l, const double Av_l,
                  const double *v, double *w) const
  {
    const double before = steps[k].square != 0. ? w[l] : 0.;
    const double next = next_basis_entry(steps[k], Av_l, v[l], before);
    w[l] = next;
    if (l < block.n_own)
      V[first + k + 1][block.begin + l] = next;
  }
};

/// A sweep that reads the rows from memory in each step.
template <int team_size_>
struct SweepFromMemory : Sweep
{
  static constexpr int team_size = team_size_, scratch = 0;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int b) const
  {
    const CacheBlockView block = blocks[b];
    double *v = team.scratch(), *w = v + block.counts[depth];
    this->begin(team, block, v, w);
    for (int k = 0; k < n_steps; ++k) {
      const int n_rows = block.counts[n_steps - 1 - k];
      for (int l = team.rank(); l < n_rows; l += team.size())
        finish_row(block, k, l, block.row_product<4>(l, v), v, w);
      team.sync();
      double *const old = v;
      v = w;
      w = old;
    }
  }
};

/// A sweep in which each thread reads its rows once, and keeps them in registers. Rows have up to
/// @p width entries.
template <int team_size_, int width>
struct SweepFromRegisters : Sweep
{
  static constexpr int team_size = team_size_, scratch = 0;
  static constexpr int n_rows = rows_in_registers(width);
  static constexpr int n_pairs = (width + 1) / 2;

  /// The entries of the thread's rows, with local numbers rank, rank + size, ...; a word holds two
  /// columns.
  struct Rows
  {
    double values[n_rows][width];
    unsigned int columns[n_rows][n_pairs];
  };

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int b) const
  {
    const CacheBlockView block = blocks[b];
    double *v = team.scratch(), *w = v + block.counts[depth];
    Rows rows;
    read(team, block, rows);
    this->begin(team, block, v, w);
    for (int k = 0; k < n_steps; ++k) {
      const int n_of_step = block.counts[n_steps - 1 - k];
      FEMGPU_UNROLL
      for (int r = 0; r < n_rows; ++r) {
        const int l = team.rank() + r * team.size();
        if (l < n_of_step)
          finish_row(block, k, l, row_product(rows, r, v), v, w);
      }
      team.sync();
      double *const old = v;
      v = w;
      w = old;
    }
  }

private:
  template <class Team>
  FEMGPU_HD
  void read(const Team &team, const CacheBlockView &block, Rows &rows) const
  {
    const int n_of_sweep = block.counts[n_steps - 1];
    const unsigned int slice = 1U << block.log_slice;
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      const int l = team.rank() + r * team.size();
      const bool is_row = l < n_of_sweep;
      const unsigned int begin = is_row ? block.first_entry(l) : 0;
      const unsigned int end = is_row ? block.end_of_slice(l) : 0;
      FEMGPU_UNROLL
      for (int pair = 0; pair < n_pairs; ++pair)
        rows.columns[r][pair] = 0;
      FEMGPU_UNROLL
      for (int e = 0; e < width; ++e) {
        const unsigned int at = begin + e * slice;
        const bool is_entry = at < end;
        rows.values[r][e] = is_entry ? block.values[at] : 0.;
        const unsigned int column = is_entry ? block.columns[at] : is_row ? l : 0;
        rows.columns[r][e / 2] |= column << (16 * (e % 2));
      }
    }
  }

  FEMGPU_HD
  static double row_product(const Rows &rows, const int r, const double *v)
  {
    double sum = 0.;
    FEMGPU_UNROLL
    for (int e = 0; e < width; ++e) {
      const unsigned int column = (rows.columns[r][e / 2] >> (16 * (e % 2))) & 0xffffU;
      sum += rows.values[r][e] * v[column];
    }
    return sum;
  }
};

template <class Backend>
class BlockedPowers final : public MatrixPowers
{
public:
  BlockedPowers(const RowSpacePtr &space, const CacheBlocks &all)
      : MatrixPowers(space), executor(space->executor()),
        shape(choose_sweep_shape(Backend::kind, all.max_rows, all.longest_row)),
        scratch(all.max_scratch)
  {
    std::vector<char> all_chunks;
    int n = 0, longest_block = 0;
    std::size_t bytes_of_sweep = 0;
    for (const CacheBlock &block : all.blocks) {
      all_chunks.insert(all_chunks.end(), block.chunk.begin(), block.chunk.end());
      n += block.n_own();
      longest_block = std::max(longest_block, block.n_own());
      bytes_of_sweep += (sizeof(double) + sizeof(std::uint16_t)) * block.slice_starts.back() +
                        (sizeof(double) + sizeof(int)) * block.others.size();
    }
    chunks = Buffer<char>(executor, all_chunks.data(), all_chunks.size());
    std::vector<CacheBlockView> views;
    const char *next = chunks.data();
    for (const CacheBlock &block : all.blocks) {
      views.push_back(CacheBlockLayout(block, all.log_slice).view(next));
      next += block.chunk.size();
    }
    blocks = Buffer<CacheBlockView>(executor, views.data(), views.size());
    std::ostringstream text;
    text.precision(3);
    text << "blocked: " << all.depth << " steps per sweep, " << views.size() << " blocks of up to "
         << longest_block << " rows, " << all.work << " rows computed per row, "
         << shape.description();
    const std::size_t vector = sizeof(double) * static_cast<std::size_t>(n);
    properties = {text.str(), chunks.bytes() + blocks.bytes(), all.depth, bytes_of_sweep + vector,
                  vector};
  }

protected:
  void run(const Columns &V, const std::vector<BasisStep> &steps) const override
  {
    Sweep sweep{blocks.data(), properties.depth, V, 0, 0, {}};
    Runner<Backend> runner(*executor);
    for (const int n_steps : sweeps_of(static_cast<int>(steps.size()), properties.depth)) {
      sweep.n_steps = n_steps;
      std::copy_n(steps.begin() + sweep.first, n_steps, sweep.steps);
      update_ghost_values(runner, V, steps, sweep.first);
      run_sweep(sweep);
      sweep.first += n_steps;
    }
  }

private:
  void run_sweep(const Sweep &sweep) const
  {
    if constexpr (Backend::kind == BackendKind::host)
      return run_as(SweepFromMemory<256>{sweep});
    switch (shape.width) {
    case 3:
      return run_from_registers<3>(sweep);
    case 5:
      return run_from_registers<5>(sweep);
    case 7:
      return run_from_registers<7>(sweep);
    case 9:
      return run_from_registers<9>(sweep);
    default:
      return run_from_memory(sweep);
    }
  }

  template <int width>
  void run_from_registers(const Sweep &sweep) const
  {
    if (shape.team_size == 256)
      run_as(SweepFromRegisters<256, width>{sweep});
    else
      run_as(SweepFromRegisters<512, width>{sweep});
  }

  void run_from_memory(const Sweep &sweep) const
  {
    switch (shape.team_size) {
    case 256:
      return run_as(SweepFromMemory<256>{sweep});
    case 512:
      return run_as(SweepFromMemory<512>{sweep});
    default:
      return run_as(SweepFromMemory<1024>{sweep});
    }
  }

  template <class Body>
  void run_as(const Body &body) const
  {
    Runner<Backend>(*executor).run(teams(static_cast<int>(blocks.size()), body, scratch));
  }

  ExecutorPtr executor;
  Buffer<char> chunks;
  Buffer<CacheBlockView> blocks; ///< views of the blocks in `chunks`
  SweepShape shape;
  int scratch;
};
} // namespace

template <>
std::unique_ptr<MatrixPowers> make_blocked_powers<ThisBackend>(const RowSpacePtr &space,
                                                               const CacheBlocks &blocks)
{
  return std::make_unique<BlockedPowers<ThisBackend>>(space, blocks);
}

template <>
int max_block_scratch<ThisBackend>(const Executor &executor)
{
  return Runner<ThisBackend>(executor).max_scratch();
}
} // namespace femgpu::linalg
