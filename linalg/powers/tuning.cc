#include "linalg/powers/tuning.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/powers/sweep_shape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
constexpr int n_sampled = 48;          ///< number of blocks from which the cost is estimated
constexpr int n_trials = 6;            ///< maximum number of candidates that are tried
constexpr int candidates_per_size = 2; ///< candidates per block size, if there are several sizes
constexpr int min_block_rows = 64;     ///< smallest size of a block

/// A division of A into cache blocks, with its estimated cost.
struct BlockCandidate
{
  int block = 0; ///< rows, or parts_of_order
  int depth = 0;
  double bytes = 0.; ///< per step and row, or an equivalent cost; the maximum over all ranks

  /// Returns a name for reports.
  std::string name() const
  {
    const bool is_partitioned = block == MatrixPowersOptions::parts_of_order;
    return (is_partitioned ? "parts" : std::to_string(block)) + " x " + std::to_string(depth);
  }
};

std::vector<int> block_sizes(const int n, const MatrixPowersOptions &options,
                             const ResidentLimits &device)
{
  if (options.block > 0)
    return {options.block};
  std::vector<int> sizes = {256, 512, 1024, 2048, 4096, 8192};
  if (device.multiprocessors > 0)
    for (const int rounds : {1, 2}) { // blocks per multiprocessor
      const int size = n / (rounds * device.multiprocessors) + 1;
      if (size >= min_block_rows && size < 8192)
        sizes.push_back((size + 31) / 32 * 32);
    }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// Estimates the cost of sweeps of several depths with blocks of one size, from a sample of blocks.
class BlockEstimate
{
public:
  BlockEstimate(const HostCsr &A, const std::vector<int> &starts, const int max_depth,
                const int scratch)
      : n_blocks(static_cast<int>(starts.size()) - 1),
        within(static_cast<std::size_t>(max_depth) + 1, 0.), max_rows_within(within.size(), 0),
        deepest(max_depth), mean_length(static_cast<double>(A.n_nonzeros) / std::max(A.n, 1))
  {
    for (int i = 0; i < A.n; ++i)
      longest_row = std::max(longest_row, A.row_starts.length(i));
    const int n_samples = std::min(n_blocks, n_sampled);
    Neighbourhood neighbourhood(A);
    for (int k = 0; k < n_samples; ++k) {
      const auto b = static_cast<int>((2LL * k + 1) * n_blocks / (2LL * n_samples));
      neighbourhood.find(starts[b], starts[b + 1], deepest, static_cast<std::size_t>(scratch));
      add(neighbourhood.counts(), scratch);
    }
  }

  /// Returns the number of rows computed in a sweep of @p depth steps, divided by the number
  /// needed.
  double work(const int depth) const
  {
    double computed = 0.;
    for (int level = 0; level < depth; ++level)
      computed += within[level];
    return computed / (depth * within[0]);
  }
  bool fits(const int depth, const double max_work) const
  {
    return n_blocks == 0 || (depth <= deepest && work(depth) <= max_work);
  }

  /// Returns the estimated cost of a step per row, as the number of bytes that are read from memory
  /// in the same time, if @p n_steps steps are made in sweeps of at most @p depth.
  double cost_of_step(const int depth, const int n_steps, const Executor &executor) const
  {
    constexpr double cached_byte_cost = 0.75; // time of a cached byte, relative to one from memory
    if (n_blocks == 0)
      return 0.;
    const SweepShape shape =
        choose_sweep_shape(executor.backend(), max_rows_within[depth - 1], longest_row);
    const double passes = shape.width > 0 ? 1. : 1. + cached_byte_cost * (depth - 1);
    const double sweep_bytes =
        (passes * entry * mean_length * within[depth - 1] + input * within[depth]) / within[0];
    const double n_sweeps = static_cast<double>(sweeps_of(n_steps, depth).size());
    const double bytes = sweep_bytes * n_sweeps / n_steps + sizeof(double) +
                         product_bytes * mean_length * work(depth);
    const int multiprocessors = executor.resident_limits().multiprocessors;
    return bytes * std::max(1., static_cast<double>(multiprocessors) / n_blocks);
  }
  double cost_of_plain_step() const
  {
    return (entry + product_bytes) * mean_length + input + sizeof(double);
  }

private:
  static constexpr double entry = 10.;        ///< bytes of the value and column of an entry
  static constexpr double input = 12.;        ///< bytes of a number of V and its index
  static constexpr double product_bytes = 2.; ///< bytes that are read in the time of multiplying
                                              ///< an entry by a number in scratch memory

  /// Adds a block to the sample.
  /// @param counts numbers of unknowns within each distance, see Neighbourhood
  void add(const std::vector<int> &counts, const int scratch)
  {
    deepest = std::min(deepest, static_cast<int>(counts.size()) - 1);
    while (deepest > 0 && counts[deepest] + counts[deepest - 1] > scratch)
      --deepest;
    for (int level = 0; level <= deepest; ++level) {
      within[level] += counts[level];
      max_rows_within[level] = std::max(max_rows_within[level], counts[level]);
    }
  }

  int n_blocks;
  std::vector<double> within;       ///< sum of the unknowns within each distance over the sample
  std::vector<int> max_rows_within; ///< largest number of unknowns within each distance
  int deepest;                      ///< largest depth at which all blocks of the sample fit
  int longest_row = 0;
  double mean_length;
};

/// Returns the depths with which @p n_steps steps need fewer sweeps than with any smaller depth; if
/// @p requested is positive, returns only this depth.
std::vector<int> useful_depths(const int n_steps, const int requested)
{
  if (requested > 0)
    return {requested};
  std::vector<int> depths;
  for (int depth = 2; depth <= std::min(n_steps, MatrixPowers::max_depth); ++depth)
    if (sweeps_of(n_steps, depth).size() < sweeps_of(n_steps, depth - 1).size())
      depths.push_back(depth);
  return depths;
}

/// Sorts candidates by cost, and keeps at most @p max_candidates of them.
void select_cheapest(std::vector<BlockCandidate> &candidates, const std::size_t max_candidates)
{
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto &a, const auto &b) { return a.bytes < b.bytes; });
  if (candidates.size() > max_candidates)
    candidates.resize(max_candidates);
}

/// Input of the search for candidates.
struct BlockSearch
{
  const Matrix &A;
  const ScaledMatrix &copy; ///< contains the rows of ghosts for the deepest sweep
  const MatrixPowersOptions &options;
  CacheBlockLimits limits;
  int deepest;
};

/// Cache blocks are tried only if their cost, relative to plain products, is at most this.
constexpr double clearly_cheaper = 0.8;

/// Returns the cheapest candidates, at most @p max_candidates, whose blocks have @p block rows or,
/// for parts_of_order, are the parts of A's ordering. The result is the same on all ranks.
std::vector<BlockCandidate> candidates_of(const BlockSearch &search, const int block,
                                          const std::size_t max_candidates)
{
  const RowSpace &rows = *search.A.domain();
  const Executor &executor = *rows.executor();
  const MatrixPowersOptions &options = search.options;
  const BlockEstimate estimate(search.copy.A, block_starts(search.A, block), search.deepest,
                               search.limits.scratch);
  const double plain_cost = options.kind == PowersKind::automatic
                                ? rows.max(estimate.cost_of_plain_step())
                                : std::numeric_limits<double>::infinity();
  std::vector<BlockCandidate> candidates;
  for (const int depth : useful_depths(options.steps, options.depth)) {
    if (depth > search.deepest)
      break;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double bytes = rows.max(estimate.fits(depth, search.limits.max_work)
                                      ? estimate.cost_of_step(depth, options.steps, executor)
                                      : infinity);
    if (bytes < clearly_cheaper * plain_cost)
      candidates.push_back({block, depth, bytes});
  }
  select_cheapest(candidates, max_candidates);
  return candidates;
}

/// Returns all candidates that fit, the cheapest first.
std::vector<BlockCandidate> block_candidates(const BlockSearch &search)
{
  const RowSpace &rows = *search.A.domain();
  const int n = static_cast<int>(rows.max(rows.n()));
  std::vector<int> sizes = block_sizes(n, search.options, rows.executor()->resident_limits());
  const bool has_parts = !search.A.csr().unknowns()->part_starts.empty();
  if (search.options.block == 0 && rows.max(has_parts ? 1. : 0.) > 0.)
    sizes.insert(sizes.begin(), MatrixPowersOptions::parts_of_order);
  const std::size_t max_candidates = sizes.size() > 1 ? candidates_per_size : n_trials;
  std::vector<BlockCandidate> candidates;
  for (const int size : sizes)
    if (size == MatrixPowersOptions::parts_of_order || size / 2 < n)
      for (const BlockCandidate &candidate : candidates_of(search, size, max_candidates))
        candidates.push_back(candidate);
  select_cheapest(candidates, candidates.size());
  return candidates;
}

/// Times forms on its own vectors, keeps the fastest one, and reports all times. Ranks wait for the
/// slowest one, and make the same choice.
class Autotuner
{
public:
  Autotuner(const RowSpacePtr &rows, const int n_steps)
      : rows(rows), steps(static_cast<std::size_t>(steps_in_memory(n_steps)))
  {
    remark.precision(3);
    remark << "; chosen by microseconds per step:";
  }

  void try_candidate(const std::string &name, const MatrixPowersOptions &choice,
                     std::unique_ptr<MatrixPowers> form)
  {
    form->choose(choice);
    const double time = seconds(*form);
    remark << (best ? ", " : " ") << name << ' ' << 1e6 * time;
    // A clear advantage over the previous best, so that noise has little influence.
    constexpr double clearly_faster = 0.97;
    if (best && time > clearly_faster * best_time)
      return;
    best = std::move(form);
    best_time = time;
  }
  void report_misfit(const std::string &name)
  {
    remark << ", " << name << " does not fit";
  }
  /// Runs @p form until its times no longer fall, because a GPU that was idle is slow at first.
  void warm_up(const MatrixPowers &form)
  {
    double before = 0., now = seconds(form);
    do {
      before = now;
      now = seconds(form);
    } while (now < 0.9 * before);
  }
  bool is_empty() const
  {
    return best == nullptr;
  }
  std::unique_ptr<MatrixPowers> fastest()
  {
    best->add_remark(remark.str());
    return std::move(best);
  }

private:
  /// Returns the seconds of a step: the minimum over several runs, after a first run that does not
  /// count.
  double seconds(const MatrixPowers &powers)
  {
    const std::size_t stride = powers.space()->n_with_ghosts();
    if (memory.size() < (steps.size() + 1) * stride) {
      memory = Buffer<double>(rows->executor(), (steps.size() + 1) * stride);
      memory.fill_zero();
    }
    const Columns V{memory.data(), stride, static_cast<int>(steps.size()) + 1};
    constexpr int repeats = 5;
    constexpr double max_seconds = 0.2;        // seconds: longer runs are repeated once only
    constexpr double seconds_of_repeat = 2e-3; // shorter runs may see a GPU at reduced clock
    int runs = 1;
    double shortest = 0., total = 0.;
    for (int repeat = 0; repeat <= repeats && (repeat < 2 || total < max_seconds); ++repeat) {
      const Stopwatch watch;
      for (int k = 0; k < runs; ++k)
        powers.compute(V, steps);
      rows->executor()->synchronize();
      const double one = rows->max(watch.elapsed() / runs);
      total += one * runs;
      shortest = repeat <= 1 ? one : std::min(shortest, one);
      runs = static_cast<int>(std::clamp(seconds_of_repeat / one, 1., 200.));
    }
    return shortest / static_cast<double>(steps.size());
  }

  /// Returns the number of steps whose vectors fit into a quarter of the free memory on all ranks.
  int steps_in_memory(const int n_steps) const
  {
    const std::size_t bytes = sizeof(double) * std::max<std::size_t>(rows->n_with_ghosts(), 1);
    const std::size_t vectors = rows->executor()->memory().free / 4 / bytes;
    const double smallest = -rows->max(-static_cast<double>(vectors));
    return static_cast<int>(std::clamp(smallest, 3., n_steps + 1.)) - 1;
  }

  RowSpacePtr rows;
  std::vector<BasisStep> steps;
  Buffer<double> memory;
  std::unique_ptr<MatrixPowers> best;
  double best_time = 0.;
  std::ostringstream remark;
};
} // namespace

int deepest_sweep(const Matrix &A, const MatrixPowersOptions &options)
{
  const RowSpace &rows = *A.domain();
  const std::vector<int> depths = useful_depths(options.steps, options.depth);
  if (rows.communicator() == nullptr || options.depth > 0)
    return depths.empty() ? 1 : depths.back();
  const auto n_ghosts = static_cast<double>(rows.n_with_ghosts()) - rows.n();
  const double share = rows.max(n_ghosts / std::max(rows.n(), 1)); // each further step adds as many
  int deepest = 1;
  for (const int depth : depths)
    if (depth * share <= 1.)
      deepest = depth;
  return deepest;
}

std::string obstacle_on_any_rank(const RowSpace &rows, const CacheBlocks &blocks)
{
  const bool is_any = rows.max(blocks.obstacle.empty() ? 0. : 1.) > 0.;
  return is_any && blocks.obstacle.empty() ? "the blocks of another subdomain do not fit"
                                           : blocks.obstacle;
}

std::unique_ptr<MatrixPowers> make_tuned_powers(const Matrix &A, const DiagonalView &m,
                                                const MatrixPowersOptions &options,
                                                const PowersForms &forms, const int log_slice)
{
  const RowSpacePtr &rows = A.domain();
  const bool may_be_plain = options.kind == PowersKind::automatic;
  const bool is_partitioned = rows->communicator() != nullptr;
  auto plain = forms.plain(A, m);
  if (rows->n_global() == 0)
    return plain;
  const auto options_for = [&options](const PowersKind kind, const int depth, const int block) {
    MatrixPowersOptions choice = options;
    choice.kind = kind;
    choice.depth = depth;
    choice.block = block;
    return choice;
  };
  MatrixPowersOptions streamed = options_for(PowersKind::streamed, options.depth, 0);
  streamed.memory = memory_for_stream(*A.executor(), options); // before trials allocate vectors
  Autotuner autotuner(rows, options.steps);
  autotuner.warm_up(*plain);
  if (may_be_plain)
    autotuner.try_candidate("plain", options_for(PowersKind::plain, 0, 0), std::move(plain));
  if (may_be_plain && rows->max(A.csr().is_on_host() ? 1. : 0.) > 0.) { // no memory for blocks
    try {
      if (!is_partitioned) // the copy of distributed rows would pass through the executor's memory
        autotuner.try_candidate("streamed", streamed, make_streamed_powers(A, m, streamed, forms));
    }
    catch (const DeviceError &) { // no memory for two blocks
      autotuner.report_misfit("streamed");
    }
    return autotuner.fastest();
  }
  const CacheBlockLimits limits{forms.max_scratch(*A.executor())};
  const int deepest = deepest_sweep(A, options);
  if (may_be_plain && deepest == 1)
    return autotuner.fastest();
  auto copy = forms.copy(A, m, deepest);
  if (may_be_plain && is_partitioned)
    autotuner.try_candidate("plain x " + std::to_string(deepest),
                            options_for(PowersKind::plain, deepest, 0),
                            make_exchanging_powers(*copy, deepest));
  int trials = 0, depth = deepest; // `depth` belongs to `copy`
  std::string obstacle = "no blocks of 256 to 8192 rows with two or more steps fit into the "
                         "scratch memory of a team without more than tripling the work";
  const BlockSearch search{A, copy->scaled, options, limits, deepest};
  for (const BlockCandidate &candidate : block_candidates(search)) {
    if (is_partitioned && candidate.depth != depth) { // a copy with only the ghosts for this depth
      depth = candidate.depth;
      copy = forms.copy(A, m, depth);
    }
    const CacheBlocks blocks = make_cache_blocks(copy->scaled, block_starts(A, candidate.block),
                                                 candidate.depth, log_slice, limits);
    if (const std::string found = obstacle_on_any_rank(*rows, blocks); !found.empty()) {
      obstacle = found;
      continue;
    }
    autotuner.try_candidate(candidate.name(),
                            options_for(PowersKind::blocked, candidate.depth, candidate.block),
                            forms.blocked(copy->space, blocks));
    if (++trials == n_trials)
      break;
  }
  if (autotuner.is_empty())
    throw SolverError("Matrix powers cannot be computed in cache blocks: " + obstacle +
                      ". Use ordering rcm or kway, or set powers=plain.");
  return autotuner.fastest();
}

int depth_of_fewest_bytes(const ScaledMatrix &A, const RowSpace &rows, const int n_steps,
                          const int deepest, const std::size_t max_bytes, const int log_slice)
{
  const auto streamed = [&](const int depth) {
    const RowBlockPasses passes = plan_passes_within(A, depth, max_bytes, log_slice);
    return static_cast<double>(sweeps_of(n_steps, depth).size()) *
           static_cast<double>(passes.total_bytes());
  };
  int best = 1;
  double smallest = rows.max(streamed(1));
  for (const int depth : useful_depths(n_steps, 0)) {
    if (depth > deepest)
      break;
    double bytes = std::numeric_limits<double>::infinity();
    try {
      bytes = streamed(depth);
    }
    catch (const DeviceError &) { // too deep
    }
    bytes = rows.max(bytes);
    if (std::isinf(bytes))
      break;
    if (bytes < smallest) {
      best = depth;
      smallest = bytes;
    }
  }
  return best;
}
} // namespace femgpu::linalg
