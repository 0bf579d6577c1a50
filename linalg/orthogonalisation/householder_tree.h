#ifndef femgpu_linalg_orthogonalisation_householder_tree_h
#define femgpu_linalg_orthogonalisation_householder_tree_h

#include "linalg/operators/communicator.h"
#include "linalg/orthogonalisation/tall_skinny.h"

#include <memory>
#include <vector>

/**
 * @file
 * CAQR (Demmel, Grigori, Hoemmen and Langou 2012; Yamazaki 2014, V.E): Householder QR factorisation
 * of blocks of rows. The triangular factors of the blocks, stacked, form a tall matrix with fewer
 * rows, which is factorised in the same way. On the way back Q replaces V: the reflections of a
 * block are applied to the rows that belong to the block in the Q of the stacked matrix.
 *
 * The reflection that turns column x into β in row k, and zeros below, is H = I − f v vᵀ with
 * v_k = x_k − β, v_i = x_i for i > k, and f = 1 / (β (β − x_k)): v is the column before the
 * reflection, except for v_k.
 */
namespace femgpu::linalg
{
/// Number of rows of a block per thread. A row has @p width values; a GPU keeps the rows in
/// registers, the host in its cache.
template <int team_size, int width>
constexpr int block_rows_of_thread = team_size > 1 ? (width <= 8 ? 4 : 2) : 256;

constexpr int padded_width(const int width)
{
  return width <= 8 ? 8 : width <= 16 ? 16 : 32;
}

/// A block of rows, as the threads of a team hold it: row r of a thread is row rank() + r size() of
/// the block.
template <class Team, int width>
class QrBlock
{
public:
  static constexpr int n_rows = block_rows_of_thread<Team::size(), width>;
  static constexpr int n_sums = padded_width(width);

  /// Number of doubles of scratch memory, for sums, β and x_k.
  static constexpr int scratch_size = Team::workspace_for_sums(n_sums) + width + 1;

  double a[n_rows][width];
  double v[n_rows]; ///< v of the current reflection

  FEMGPU_HD
  explicit QrBlock(const Team &team) : team(team), scratch_memory(team.scratch())
  {}

  FEMGPU_HD
  int local(const int r) const
  {
    return team.rank() + r * team.size();
  }
  FEMGPU_HD
  double &beta(const int k) const
  {
    return scratch_memory[Team::workspace_for_sums(n_sums) + k];
  }

  /// Loads the rows of V from @p begin on; rows from @p end on, and columns that V lacks, are set
  /// to zero.
  FEMGPU_HD
  void load(const Columns &V, const int begin, const int end)
  {
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      const int i = begin + local(r);
      FEMGPU_UNROLL
      for (int c = 0; c < width; ++c)
        a[r][c] = i < end && c < V.count ? V[c][i] : 0.;
    }
  }

  FEMGPU_HD
  void store(const Columns &V, const int begin, const int end) const
  {
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      const int i = begin + local(r);
      FEMGPU_UNROLL
      for (int c = 0; c < width; ++c)
        if (i < end && c < V.count)
          V[c][i] = a[r][c];
    }
  }

  /// Sums of squares that are at most this large are treated as zero, to prevent overflow of f.
  static constexpr double tiny = 1e-280;

  /// Finds the reflection of rows k, k + 1, ... that turns column k into β in row k and zeros
  /// below. Returns f of the reflection; 0 if no reflection is needed.
  FEMGPU_HD
  double find_reflection(const int k)
  {
    double *const pivot = &beta(width);
    double sum = 0.;
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      v[r] = local(r) >= k ? entry(r, k) : 0.;
      sum += local(r) > k ? v[r] * v[r] : 0.;
      if (local(r) == k)
        *pivot = v[r];
    }
    const double sigma = team.sum(sum), x_k = *pivot;
    const double norm = sqrt(x_k * x_k + sigma);
    const double beta_k = sigma > tiny ? (x_k > 0. ? -norm : norm) : x_k;
    if (team.rank() == 0)
      beta(k) = beta_k;
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r)
      if (local(r) == k)
        v[r] = x_k - beta_k;
    return sigma > tiny ? 1. / (beta_k * (beta_k - x_k)) : 0.;
  }

  /// Computes a −= f v (vᵀ a) for all columns a from @p first on.
  FEMGPU_HD
  void reflect(const double f, const int first)
  {
    double dots[n_sums] = {};
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      FEMGPU_UNROLL
      for (int c = 0; c < width; ++c)
        dots[c] += v[r] * a[r][c];
    }
    team.sums(dots, scratch_memory);
    FEMGPU_UNROLL
    for (int c = 0; c < width; ++c)
      dots[c] = c >= first ? f * dots[c] : 0.;
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      FEMGPU_UNROLL
      for (int c = 0; c < width; ++c)
        a[r][c] -= v[r] * dots[c];
    }
  }

  /// Stores v_k on the diagonal; the other entries of v already are below it.
  FEMGPU_HD
  void store_pivot(const int k)
  {
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r)
      if (local(r) == k) {
        FEMGPU_UNROLL
        for (int c = 0; c < width; ++c)
          a[r][c] = c == k ? v[r] : a[r][c];
      }
  }

private:
  /// Returns a[r][k]. On a GPU, it does not index by k, which would move the array `a` out of the
  /// registers.
  FEMGPU_HD
  double entry(const int r, const int k) const
  {
    if constexpr (Team::size() == 1)
      return a[r][k];
    double value = 0.;
    FEMGPU_UNROLL
    for (int c = 0; c < width; ++c)
      value = c == k ? a[r][c] : value;
    return value;
  }

  const Team &team;
  double *scratch_memory;
};

/// Data of a level of the tree, for FactoriseBlock and ExpandBlock.
struct TreeLevel
{
  RowChunks blocks;
  Columns V;         ///< the level's matrix, later its reflections, at the end its Q
  Columns triangles; ///< the matrix of the next level, p rows per block; at the end its Q
  double *factors;   ///< f of each reflection of each block

  /// Returns the number of blocks, at least 1: a rank without rows has a block whose triangle is
  /// zero.
  int n_blocks() const
  {
    return std::max(blocks.count(), 1);
  }
};

/// Factorises a block of rows of a level: stores its reflections in level.V, and its triangular
/// factor in level.triangles.
template <int width>
struct FactoriseBlock
{
  static constexpr int team_size = 128, scratch = 8 * padded_width(width) + width + 1;
  TreeLevel level;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int block) const
  {
    static_assert(QrBlock<Team, width>::scratch_size <= scratch);
    const Columns &V = level.V;
    const int begin = level.blocks.begin(block), end = level.blocks.end(block);
    QrBlock<Team, width> rows(team);
    rows.load(V, begin, end);
    for (int k = 0; k < V.count; ++k) {
      const double f = rows.find_reflection(k);
      if (team.rank() == 0)
        level.factors[block * V.count + k] = f;
      if (f != 0.) {
        rows.reflect(f, k + 1);
        rows.store_pivot(k);
      }
      team.sync();
    }
    rows.store(V, begin, end);
    store_triangle(block, rows);
  }

private:
  template <class Rows>
  FEMGPU_HD
  void store_triangle(const int block, const Rows &rows) const
  {
    const int p = level.V.count;
    FEMGPU_UNROLL
    for (int r = 0; r < Rows::n_rows; ++r) {
      const int i = rows.local(r);
      FEMGPU_UNROLL
      for (int c = 0; c < width; ++c)
        if (i < p && c < p)
          level.triangles[c][block * p + i] = c > i ? rows.a[r][c] : c == i ? rows.beta(i) : 0.;
    }
  }
};

/// Computes Q of a block of rows, from the rows that belong to the block in the next level's Q.
template <int width>
struct ExpandBlock
{
  static constexpr int team_size = FactoriseBlock<width>::team_size;
  static constexpr int scratch = FactoriseBlock<width>::scratch;
  TreeLevel level;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int block) const
  {
    const int p = level.V.count;
    const int begin = level.blocks.begin(block), end = level.blocks.end(block);
    QrBlock<Team, width> rows(team);
    rows.load(level.triangles, block * p, (block + 1) * p);
    double next[QrBlock<Team, width>::n_rows]; // next reflection, loaded while one is applied
    load_reflection(rows, begin, end, p - 1, next);
    for (int k = p - 1; k >= 0; --k) {
      FEMGPU_UNROLL
      for (int r = 0; r < rows.n_rows; ++r)
        rows.v[r] = next[r];
      if (k > 0)
        load_reflection(rows, begin, end, k - 1, next);
      const double f = level.factors[block * p + k];
      if (f != 0.)
        rows.reflect(f, 0);
    }
    rows.store(level.V, begin, end);
  }

private:
  template <class Rows>
  FEMGPU_HD
  void load_reflection(const Rows &rows, const int begin, const int end, const int k,
                       double (&v)[Rows::n_rows]) const
  {
    FEMGPU_UNROLL
    for (int r = 0; r < Rows::n_rows; ++r) {
      const int i = begin + rows.local(r);
      v[r] = rows.local(r) >= k && i < end ? level.V[k][i] : 0.;
    }
  }
};

/// Computes row i of R, with a non-negative diagonal, from the triangle of the last level. Replaces
/// this row of the triangle by the row of its Q, which is diagonal with entries ±1.
struct FinishTriangle
{
  Columns triangle;
  double *R;

  FEMGPU_HD
  void operator()(const int i) const
  {
    const int p = triangle.count;
    const double sign = triangle[i][i] < 0. ? -1. : 1.;
    for (int j = 0; j < p; ++j) {
      R[i + j * p] = j >= i ? sign * triangle[j][i] : 0.;
      triangle[j][i] = i == j ? sign : 0.;
    }
  }
};

/**
 * Computes V = QR for up to 32 columns. Costs 2 kernels per level of the tree, which has about log
 * n / log(256 / p) levels; reads and writes V twice and performs about 8 n p² operations. ‖I − QᵀQ‖
 * = O(ε) for every V; with n >= count(V), also if columns are dependent. If rows are distributed,
 * each rank has a tree. All ranks factorise the triangles of all ranks, which pass through the
 * host, and continue with their own part of Q.
 */
template <class Backend>
class HouseholderTree
{
public:
  static constexpr int max_columns = 32;

  HouseholderTree(const ExecutorPtr &executor, const Communicator *const communicator)
      : executor(executor), communicator(communicator), runner(*executor)
  {}

  /// Computes V = QR; Q overwrites V.
  /// @param R receives R_xy in R[x + y count(V)]; its diagonal is non-negative
  void factorise(const int n, const Columns &V, double *R)
  {
    dispatch_width<8, 16, 24, max_columns>(
        V.count, [&](const auto width) { factorise_in<decltype(width)::value>(n, V, R); });
  }

private:
  template <int width>
  void factorise_in(const int n, const Columns &V, double *R)
  {
    const std::vector<TreeLevel> levels = make_levels<width>(n, V);
    for (const TreeLevel &level : levels)
      runner.run(teams(level.n_blocks(), FactoriseBlock<width>{level}));
    if (communicator != nullptr)
      combine_ranks(levels.back().triangles, R);
    else
      runner.run(rows(V.count, FinishTriangle{levels.back().triangles, R}));
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
      runner.run(teams(level->n_blocks(), ExpandBlock<width>{*level}));
  }

  /// Factorises the stacked triangles of all ranks. Stores the triangular factor in @p R, and this
  /// rank's rows of the Q of this factorisation in @p triangle.
  void combine_ranks(const Columns &triangle, double *R)
  {
    const auto p = static_cast<std::size_t>(triangle.count);
    const auto n_ranks = static_cast<std::size_t>(communicator->n_ranks());
    std::vector<double> mine(p * p), all(n_ranks * p * p);
    executor->copy_to_host(mine.data(), triangle.data, mine.size() * sizeof(double));
    communicator->gather(mine.data(), mine.size() * sizeof(double), all.data());
    const std::size_t n_rows = n_ranks * p;
    std::vector<double> stacked(n_rows * p);
    for (std::size_t rank = 0; rank < n_ranks; ++rank)
      for (std::size_t c = 0; c < p; ++c)
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>((rank * p + c) * p), p,
                    stacked.begin() + static_cast<std::ptrdiff_t>(c * n_rows + rank * p));
    Buffer<double> all_triangles(executor, stacked.data(), stacked.size());
    if (!triangle_tree)
      triangle_tree = std::make_unique<HouseholderTree>(executor, nullptr);
    const Columns V{all_triangles.data(), n_rows, triangle.count};
    triangle_tree->factorise(static_cast<int>(n_rows), V, R);
    for (int c = 0; c < triangle.count; ++c)
      executor->copy_within(triangle[c], V[c] + static_cast<std::size_t>(communicator->rank()) * p,
                            p * sizeof(double));
  }

  template <int width>
  std::vector<TreeLevel> make_levels(const int n, const Columns &V)
  {
    constexpr bool on_host = Backend::kind == BackendKind::host;
    constexpr int threads = on_host ? 1 : FactoriseBlock<width>::team_size;
    constexpr int rows_of_block = threads * block_rows_of_thread<threads, width>;
    std::vector<TreeLevel> levels;
    std::size_t needed = 0;
    for (RowChunks blocks{n, rows_of_block};; blocks.n = levels.back().n_blocks() * V.count) {
      levels.push_back({blocks, {}, {}, nullptr});
      const int n_triangles = levels.back().n_blocks() * V.count;
      needed += static_cast<std::size_t>(n_triangles) * static_cast<std::size_t>(V.count + 1);
      if (levels.back().n_blocks() == 1)
        break;
    }
    if (memory.size() < needed)
      memory = Buffer<double>(executor, needed);
    double *free = memory.data();
    Columns level_matrix = V;
    for (TreeLevel &level : levels) {
      const auto n_triangles =
          static_cast<std::size_t>(level.n_blocks()) * static_cast<std::size_t>(V.count);
      level.V = level_matrix;
      level.factors = free;
      level.triangles = {free + n_triangles, n_triangles, V.count};
      free = level.triangles[V.count];
      level_matrix = level.triangles;
    }
    return levels;
  }

  ExecutorPtr executor;
  const Communicator *communicator; ///< nullptr: rows are not distributed
  Runner<Backend> runner;
  Buffer<double> memory;
  std::unique_ptr<HouseholderTree> triangle_tree; ///< factorises the triangles of all ranks
};
} // namespace femgpu::linalg

#endif
