#ifndef femgpu_linalg_preconditioners_incomplete_triangular_solver_h
#define femgpu_linalg_preconditioners_incomplete_triangular_solver_h

#include "linalg/preconditioners/incomplete/factors.h"
#include "linalg/sparse/derived_matrix.h"

#include <algorithm>
#include <memory>
#include <string>

/**
 * @file
 * The triangles L and U of incomplete factors, and solvers for M z = b, where M is the product
 * (D + L) D⁻¹ (D + U). For each diagonal block they compute w = (D + L)⁻¹ b, z = w − D⁻¹ U z.
 */
namespace femgpu::linalg
{
/// A triangle without its diagonal; rows are stored in the order of processing.
struct TriangleView
{
  const int *rows;       ///< the row at each position
  const int *row_starts; ///< first entry of the row at each position, then the number of entries
  const int *columns;
  const double *values;
  const double *inverse; ///< 1/d_i of the row at each position
};

/// A triangle of the factors. It is also usable as an operator if its rows are in numerical order.
template <class Backend>
class Triangle final : public ViewedOperator<CsrView<double>>
{
public:
  /// @param order the rows in the order in which they are processed
  Triangle(const PatternRef &factors, const std::vector<int> &order, const bool is_lower)
      : ViewedOperator(std::make_shared<RowSpace>(factors.executor, factors.n)),
        row_order(executor(), order.data(), order.size()),
        derived(triangle_pattern<Backend>(
            factors, is_lower ? TrianglePart::strictly_lower : TrianglePart::strictly_upper,
            row_order.data())),
        values(executor(), derived.sources.size()), inverse(executor(), order.size())
  {}

  /// Copies the values of the factors.
  void update(const FactorsView &factors)
  {
    Runner<Backend> runner(*executor());
    runner.run(rows(static_cast<int>(values.size()),
                    Gather<double>{factors.values, derived.sources.data(), values.data()}));
    runner.run(rows(n(), Gather<double>{factors.inverse, row_order.data(), inverse.data()}));
  }

  View view() const override
  {
    return CsrView<double>{n(), lanes(), derived.pattern.row_starts.data(),
                           derived.pattern.columns.data(), values.data()};
  }
  TriangleView ordered_view() const
  {
    return {row_order.data(), derived.pattern.row_starts.data(), derived.pattern.columns.data(),
            values.data(), inverse.data()};
  }
  /// Returns the number of GPU threads that should share a row.
  int lanes() const
  {
    const double mean = n() > 0 ? static_cast<double>(values.size()) / n() : 0.;
    return threads_for_rows(*executor(), mean);
  }
  std::size_t bytes() const
  {
    return row_order.bytes() + derived.pattern.row_starts.bytes() +
           derived.pattern.columns.bytes() + values.bytes() + inverse.bytes();
  }

private:
  Buffer<int> row_order;
  DerivedPattern derived; ///< the pattern, derived from the factors' pattern
  Buffer<double> values, inverse;
};

/// The right-hand side b and the solution z of a solve, each in the order of the blocks or of A.
struct SolveVectors
{
  const double *b;
  const int *b_order; ///< the position in b of each row; nullptr: the same order
  double *z;
  const int *z_order; ///< the position in z of each row; nullptr: the same order
  bool adds;          ///< whether the solution is added to z, instead of overwriting z

  FEMGPU_HD
  double read(const int i) const
  {
    return b[b_order == nullptr ? i : b_order[i]];
  }
  FEMGPU_HD
  void write(const int i, const double value) const
  {
    double *const to = z + (z_order == nullptr ? i : z_order[i]);
    *to = adds ? *to + value : value;
  }
};

/// Solves M z = b with incomplete factors M. An object is used by one solver at a time.
class TriangularSolver
{
public:
  virtual ~TriangularSolver() = default;

  /// Prepares for new values of the factors that the solver was made from.
  virtual void update() = 0;

  virtual void solve(StepRunner &runner, const SolveVectors &v) const = 0;
  virtual std::size_t bytes() const = 0; ///< bytes that a solve reads and writes
  virtual std::string name() const = 0;  ///< description for reports
};

/// A TriangularSolver that stores both triangles.
template <class Backend>
class SolverWithTriangles : public TriangularSolver
{
public:
  void update() override
  {
    lower.update(factors.view());
    upper.update(factors.view());
  }

protected:
  SolverWithTriangles(const IncompleteFactors<Backend> &factors, const std::vector<int> &lower_rows,
                      const std::vector<int> &upper_rows)
      : factors(factors), lower(factors.pattern_ref(), lower_rows, true),
        upper(factors.pattern_ref(), upper_rows, false)
  {}
  /// Orders the rows as the schedule of the factors does.
  explicit SolverWithTriangles(const IncompleteFactors<Backend> &factors)
      : SolverWithTriangles(factors, factors.schedule().lower.host_rows,
                            factors.schedule().upper.host_rows)
  {}

  Buffer<double> make_vector() const
  {
    return lower.range()->make_vector();
  }

  const IncompleteFactors<Backend> &factors;
  Triangle<Backend> lower, upper;
};

/// A triangle whose positions are divided into levels, or into packets of rows. The rows of one
/// level or packet are independent.
struct LevelsView
{
  TriangleView triangle;
  const int *starts;       ///< the first position of each level or packet, then n
  const int *block_levels; ///< the first level of each block
};

/// Forward substitution in row i: w_i = (b_i − Σ l_ij w_j) / d_i.
struct ForwardRow
{
  FEMGPU_HD
  static double finish(const SolveVectors &v, const double * /* w */, const int i,
                       const int /* local */, const double sum, const double inverse)
  {
    return (v.read(i) - sum) * inverse;
  }
};

/// Backward substitution in row i: z_i = w_i − Σ u_ij z_j / d_i, which overwrites w_i.
struct BackwardRow
{
  FEMGPU_HD
  static double finish(const SolveVectors &v, const double *w, const int i, const int local,
                       const double sum, const double inverse)
  {
    const double z_i = w[local] - sum * inverse;
    v.write(i, z_i);
    return z_i;
  }
};

/**
 * Solves with both triangles of one block, level by level. The block's part of w is in scratch
 * memory if `scratch_` is not 0, else in `work`. A team of one thread processes the rows one after
 * the other.
 */
template <int scratch_>
struct SolveBlock
{
  static constexpr int team_size = 256, scratch = scratch_;
  LevelsView lower, upper;
  int lanes; ///< threads that share a row
  const int *block_starts;
  SolveVectors v;
  double *work; ///< n values, if scratch_ is 0

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int block) const
  {
    double *const w = scratch > 0 ? team.scratch() : work;
    const int offset = scratch > 0 ? block_starts[block] : 0;
    for (int level = lower.block_levels[block]; level < lower.block_levels[block + 1]; ++level)
      solve_level<ForwardRow>(team, lower, level, w, offset);
    for (int level = upper.block_levels[block]; level < upper.block_levels[block + 1]; ++level)
      solve_level<BackwardRow>(team, upper, level, w, offset);
  }

  template <class Row, class Team>
  FEMGPU_HD
  void solve_level(const Team &team, const LevelsView &levels, const int level, double *w,
                   const int offset) const
  {
    const TriangleView &T = levels.triangle;
    const int threads = team.size() > 1 ? lanes : 1, rows_at_once = team.size() / threads;
    const int lane = team.rank() & (threads - 1), row_of_team = team.rank() / threads;
    const int end = levels.starts[level + 1];
    for (int first = levels.starts[level]; first < end; first += rows_at_once) {
      const int position = first + row_of_team;
      double sum = 0.;
      if (position < end)
        for (int k = T.row_starts[position] + lane; k < T.row_starts[position + 1]; k += threads)
          sum += T.values[k] * w[T.columns[k] - offset];
      sum = team.sum(sum, threads);
      if (position < end && lane == 0) {
        const int i = T.rows[position], local = i - offset;
        w[local] = Row::finish(v, w, i, local, sum, T.inverse[position]);
      }
    }
    team.sync();
  }
};

/// Solves a packet of independent rows of a triangle; each row waits for the rows of other packets
/// on which it depends.
template <class Row>
struct SolvePacket
{
  static constexpr int team_size = 32, scratch = 0;
  LevelsView packets;
  int lanes;
  SolveVectors v;
  double *work; ///< n values

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int packet) const
  {
    const TriangleView &T = packets.triangle;
    const int threads = team.size() > 1 ? lanes : 1, rows_at_once = team.size() / threads;
    const int lane = team.rank() & (threads - 1), end = packets.starts[packet + 1];
    for (int first = packets.starts[packet]; first < end; first += rows_at_once) {
      const int position = first + team.rank() / threads;
      const int row_end = position < end ? T.row_starts[position + 1] : 0;
      const int row_begin = position < end ? T.row_starts[position] + lane : 0;
      for (int k = row_begin; k < row_end; k += threads)
        team.wait_for(T.columns[k]);
      team.acquire_fence();
      double sum = 0.;
      for (int k = row_begin; k < row_end; k += threads)
        sum += T.values[k] * team.load_published(work + T.columns[k]);
      sum = team.sum(sum, threads);
      if (position < end && lane == 0) {
        const int i = T.rows[position];
        work[i] = Row::finish(v, work, i, i, sum, T.inverse[position]);
        team.publish(i);
      }
    }
  }
};

/// The levels of a schedule (schedule.h), split into packets of rows of limited size.
class Levels
{
public:
  Levels(const RowSchedule &schedule, const int max_rows, const ExecutorPtr &owner)
  {
    std::vector<int> starts;
    for (std::size_t level = 0, block = 0; level + 1 < schedule.level_starts.size(); ++level) {
      for (; schedule.block_levels[block] == static_cast<int>(level); ++block)
        host_block_levels.push_back(static_cast<int>(starts.size()));
      for (int position = schedule.level_starts[level]; position < schedule.level_starts[level + 1];
           position += std::min(max_rows, schedule.level_starts[level + 1] - position))
        starts.push_back(position);
    }
    host_block_levels.push_back(static_cast<int>(starts.size()));
    starts.push_back(schedule.level_starts.back());
    level_starts = Buffer<int>(owner, starts.data(), starts.size());
    block_levels = Buffer<int>(owner, host_block_levels.data(), host_block_levels.size());
  }

  template <class Backend>
  LevelsView view(const Triangle<Backend> &triangle) const
  {
    return {triangle.ordered_view(), level_starts.data(), block_levels.data()};
  }

  std::vector<int> host_block_levels;

private:
  Buffer<int> level_starts, block_levels;
};

/// A solver with one team of threads per diagonal block.
template <class Backend>
class BlockwiseSolver final : public SolverWithTriangles<Backend>
{
public:
  explicit BlockwiseSolver(const IncompleteFactors<Backend> &factors)
      : SolverWithTriangles<Backend>(factors),
        lower_levels(factors.schedule().lower, lower.n(), factors.executor()),
        upper_levels(factors.schedule().upper, upper.n(), factors.executor()),
        work(this->make_vector())
  {}

  void solve(StepRunner &runner, const SolveVectors &v) const override
  {
    const int largest = factors.partition().host.largest_block();
    if (Backend::kind == BackendKind::host || largest > 4096)
      run<0>(runner, v);
    else if (largest > 2048)
      run<4096>(runner, v);
    else
      run<2048>(runner, v);
  }
  std::size_t bytes() const override
  {
    return lower.bytes() + upper.bytes() + 4 * work.bytes();
  }
  std::string name() const override
  {
    return Backend::kind == BackendKind::host ? "one thread per diagonal block"
                                              : "one thread block per diagonal block";
  }

private:
  template <int scratch>
  void run(StepRunner &runner, const SolveVectors &v) const
  {
    const SolveBlock<scratch> body{lower_levels.view(lower),
                                   upper_levels.view(upper),
                                   std::max(lower.lanes(), upper.lanes()),
                                   factors.partition().view().starts,
                                   v,
                                   work.data()};
    static_cast<Runner<Backend> &>(runner).run(
        teams(lower.n() > 0 ? factors.partition().host.n_blocks() : 0, body));
  }

  using SolverWithTriangles<Backend>::factors, SolverWithTriangles<Backend>::lower,
      SolverWithTriangles<Backend>::upper;
  Levels lower_levels, upper_levels;
  mutable Buffer<double> work;
};

/// A solver for few large blocks on a GPU: it processes all blocks at once, and each row waits only
/// for the rows on which it depends.
template <class Backend>
class DependencySolver final : public SolverWithTriangles<Backend>
{
public:
  explicit DependencySolver(const IncompleteFactors<Backend> &factors)
      : SolverWithTriangles<Backend>(factors),
        lower_packets(factors.schedule().lower, warp / lower.lanes(), factors.executor()),
        upper_packets(factors.schedule().upper, warp / upper.lanes(), factors.executor()),
        lower_chains(factors.executor(), lower_packets.host_block_levels, lower.n()),
        upper_chains(factors.executor(), upper_packets.host_block_levels, upper.n()),
        work(this->make_vector())
  {}

  void solve(StepRunner &runner, const SolveVectors &v) const override
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    const Schedule &order = factors.schedule();
    steps.run(lower_chains.step(
        SolvePacket<ForwardRow>{lower_packets.view(lower), lower.lanes(), v, work.data()},
        order.lower.items_at_once(lower_packets.host_block_levels.back())));
    steps.run(upper_chains.step(
        SolvePacket<BackwardRow>{upper_packets.view(upper), upper.lanes(), v, work.data()},
        order.upper.items_at_once(upper_packets.host_block_levels.back())));
  }
  std::size_t bytes() const override
  {
    return lower.bytes() + upper.bytes() + 5 * work.bytes();
  }
  std::string name() const override
  {
    return "rows that wait for their dependencies";
  }

private:
  static constexpr int warp = 32;

  using SolverWithTriangles<Backend>::factors, SolverWithTriangles<Backend>::lower,
      SolverWithTriangles<Backend>::upper;
  Levels lower_packets, upper_packets;
  mutable Chains lower_chains, upper_chains;
  mutable Buffer<double> work;
};
} // namespace femgpu::linalg

#endif
