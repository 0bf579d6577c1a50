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
/// Cache blocks in the memory of an executor.
struct CacheBlocksView
{
  int depth, log_slice;
  const int *starts, *counts, *ghosts, *first_slices;
  const std::size_t *ghost_starts, *slice_starts;
  const std::uint16_t *columns;
  const double *values;
};

/// One of them.
struct CacheBlockView
{
  int begin, n_own, log_slice;
  const int *counts, *ghosts;
  const std::size_t *slice_starts;
  const std::uint16_t *columns;
  const double *values;

  FEMGPU_HD
  CacheBlockView(const CacheBlocksView &all, const int b)
      : begin(all.starts[b]), n_own(all.starts[b + 1] - begin), log_slice(all.log_slice),
        counts(all.counts + static_cast<std::size_t>(b) * (all.depth + 1)),
        ghosts(all.ghosts + all.ghost_starts[b]),
        slice_starts(all.slice_starts + all.first_slices[b]), columns(all.columns),
        values(all.values)
  {}

  /// The row of the matrix that is row @p l here.
  FEMGPU_HD
  int row(const int l) const
  {
    return l < n_own ? begin + l : ghosts[l - n_own];
  }
  FEMGPU_HD
  std::size_t start_of_slice(const int l) const
  {
    return slice_starts[l >> log_slice];
  }
  FEMGPU_HD
  std::size_t first_entry(const int l) const
  {
    return start_of_slice(l) + static_cast<std::size_t>(l & ((1 << log_slice) - 1));
  }
  FEMGPU_HD
  std::size_t end_of_slice(const int l) const
  {
    return slice_starts[(l >> log_slice) + 1];
  }
  /// The first @p n unknowns of a vector of the whole.
  template <class Team>
  FEMGPU_HD
  void gather(const Team &team, const double *whole, const int n, double *v) const
  {
    for (int l = team.rank(); l < n; l += team.size())
      v[l] = whole[row(l)];
  }
};

/// What all ways to run a sweep know: n_steps steps from V[first] on.
struct Sweep
{
  CacheBlocksView blocks;
  Columns V;
  int first, n_steps;
  BasisStep steps[MatrixPowers::most_depth];

  /// v = V[first], and w = V[first - 1] if that is needed, of the unknowns of a block.
  template <class Team>
  FEMGPU_HD
  void begin(const Team &team, const CacheBlockView &block, double *v, double *w) const
  {
    block.gather(team, V[first], block.counts[n_steps], v);
    if (steps[0].square != 0.)
      block.gather(team, V[first - 1], block.counts[n_steps - 1], w);
    team.sync();
  }

  /// Row l of step k, 0 <= k < n_steps: w, which was v_{k-1}, becomes v_{k+1}.
  FEMGPU_HD
  void finish_row(const CacheBlockView &block, const int k, const int l, const double Av_l,
                  const double *v, double *w) const
  {
    const double before = steps[k].square != 0. ? w[l] : 0.;
    const double next = next_of_basis(steps[k], Av_l, v[l], before);
    w[l] = next;
    if (l < block.n_own)
      V[first + k + 1][block.begin + l] = next;
  }
};

/// Rows are read from memory in each step.
template <int team_size_>
struct SweepFromMemory : Sweep
{
  static constexpr int team_size = team_size_, scratch = 0;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int b) const
  {
    const CacheBlockView block(blocks, b);
    double *v = team.scratch(), *w = v + block.counts[blocks.depth];
    this->begin(team, block, v, w);
    for (int k = 0; k < n_steps; ++k) {
      const int n_rows = block.counts[n_steps - 1 - k];
      for (int l = team.rank(); l < n_rows; l += team.size()) {
        const auto places =
            places_in_slice(block.start_of_slice(l), block.end_of_slice(l),
                            static_cast<std::size_t>(l), std::size_t{1} << block.log_slice);
        const double Av_l = strided_product<4>(block.values, block.columns, places, v);
        finish_row(block, k, l, Av_l, v, w);
      }
      team.sync();
      double *const old = v;
      v = w;
      w = old;
    }
  }
};

/// Each thread reads its rows, of up to @p width entries, once, and keeps them in registers.
template <int team_size_, int width>
struct SweepFromRegisters : Sweep
{
  static constexpr int team_size = team_size_, scratch = 0;
  static constexpr int n_rows = rows_in_registers(width);
  static constexpr int n_pairs = (width + 1) / 2;

  /// Entries of the rows rank, rank + size, ...; a word has two columns.
  struct Rows
  {
    double values[n_rows][width];
    unsigned int columns[n_rows][n_pairs];
  };

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int b) const
  {
    const CacheBlockView block(blocks, b);
    double *v = team.scratch(), *w = v + block.counts[blocks.depth];
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
    const std::size_t slice = std::size_t{1} << block.log_slice;
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      const int l = team.rank() + r * team.size();
      const bool is_row = l < n_of_sweep;
      const std::size_t begin = is_row ? block.first_entry(l) : 0;
      const std::size_t end = is_row ? block.end_of_slice(l) : 0;
      FEMGPU_UNROLL
      for (int pair = 0; pair < n_pairs; ++pair)
        rows.columns[r][pair] = 0;
      FEMGPU_UNROLL
      for (int e = 0; e < width; ++e) {
        const std::size_t at = begin + e * slice;
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
  BlockedPowers(const ExecutorPtr &executor, const CacheBlocks &blocks, const int longest_row)
      : executor(executor), starts(executor, blocks.starts.data(), blocks.starts.size()),
        counts(executor, blocks.counts.data(), blocks.counts.size()),
        ghosts(executor, blocks.ghosts.data(), blocks.ghosts.size()),
        first_slices(executor, blocks.first_slices.data(), blocks.first_slices.size()),
        ghost_starts(executor, blocks.ghost_starts.data(), blocks.ghost_starts.size()),
        slice_starts(executor, blocks.slice_starts.data(), blocks.slice_starts.size()),
        columns(executor, blocks.columns.data(), blocks.columns.size()),
        values(executor, blocks.values.data(), blocks.values.size()),
        shape(choose_sweep_shape(Backend::kind, blocks.most_rows, longest_row)),
        depth(blocks.depth), log_slice(blocks.log_slice), scratch(blocks.most_scratch),
        work(blocks.work), n(blocks.starts.back()), longest_block(0),
        first_sweep_bytes(sweep_bytes(blocks, 0))
  {
    for (int b = 0; b < blocks.n_blocks(); ++b)
      longest_block = std::max(longest_block, blocks.starts[b + 1] - blocks.starts[b]);
  }

  std::string description() const override
  {
    std::ostringstream text;
    text.precision(3);
    text << "blocked: " << depth << " steps a sweep, " << starts.size() - 1 << " blocks of up to "
         << longest_block << " rows, " << work << " rows computed for each, "
         << shape.description();
    return text.str();
  }
  std::size_t bytes() const override
  {
    return starts.bytes() + counts.bytes() + ghosts.bytes() + first_slices.bytes() +
           ghost_starts.bytes() + slice_starts.bytes() + columns.bytes() + values.bytes();
  }
  std::size_t traffic(const int n_steps) const override
  {
    const std::size_t vector = sizeof(double) * static_cast<std::size_t>(n);
    return sweeps_of(n_steps, depth).size() * first_sweep_bytes +
           static_cast<std::size_t>(n_steps) * vector;
  }

protected:
  void run(const Columns &V, const std::vector<BasisStep> &steps) const override
  {
    Sweep sweep{{depth, log_slice, starts.data(), counts.data(), ghosts.data(), first_slices.data(),
                 ghost_starts.data(), slice_starts.data(), columns.data(), values.data()},
                V,
                0,
                0,
                {}};
    for (const int n_steps : sweeps_of(static_cast<int>(steps.size()), depth)) {
      sweep.n_steps = n_steps;
      std::copy_n(steps.begin() + sweep.first, n_steps, sweep.steps);
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
    const int n_blocks = static_cast<int>(starts.size()) - 1;
    Runner<Backend>(*executor).run(teams(n_blocks, body, scratch));
  }

  ExecutorPtr executor;
  Buffer<int> starts, counts, ghosts, first_slices;
  Buffer<std::size_t> ghost_starts, slice_starts;
  Buffer<std::uint16_t> columns;
  Buffer<double> values;
  SweepShape shape;
  int depth, log_slice, scratch;
  double work;
  int n, longest_block;
  std::size_t first_sweep_bytes; ///< besides the vectors that it makes
};
} // namespace

template <>
std::unique_ptr<MatrixPowers> make_blocked_powers<ThisBackend>(const ExecutorPtr &executor,
                                                               const CacheBlocks &blocks,
                                                               const int longest_row)
{
  return std::make_unique<BlockedPowers<ThisBackend>>(executor, blocks, longest_row);
}

template <>
int most_block_scratch<ThisBackend>(const Executor &executor)
{
  return Runner<ThisBackend>(executor).most_scratch();
}
} // namespace femgpu::linalg
