#include "linalg/powers/tuning.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/powers/sweep_shape.h"

#include <algorithm>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
constexpr int n_sampled = 48;   ///< blocks that tell what all cost
constexpr int n_trials = 6;     ///< candidates that are made and run
constexpr int of_one_size = 2;  ///< of these, where there are several sizes
constexpr int least_block = 64; ///< rows

/// A way to cut A into cache blocks, by what it should cost.
struct BlockCandidate
{
  std::vector<int> starts;
  int depth = 0;
  double bytes = 0.; ///< of a step, a row, or what costs as much
};

std::vector<int> block_sizes(const int n, const MatrixPowersOptions &options,
                             const ResidentLimits &device)
{
  if (options.block > 0)
    return {options.block};
  std::vector<int> sizes = {256, 512, 1024, 2048, 4096, 8192};
  if (device.multiprocessors > 0)
    for (const int rounds : {1, 2}) { // all multiprocessors have so many blocks
      const int size = n / (rounds * device.multiprocessors) + 1;
      if (size >= least_block && size < 8192)
        sizes.push_back((size + 31) / 32 * 32);
    }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// How blocks of one size do with sweeps of some depth, by a sample of them.
class BlockEstimate
{
public:
  BlockEstimate(const HostCsr &A, const std::vector<int> &starts, const int most_depth,
                const int scratch)
      : n_blocks(static_cast<int>(starts.size()) - 1),
        within(static_cast<std::size_t>(most_depth) + 1, 0.), most_within(within.size(), 0),
        deepest(most_depth), mean_length(static_cast<double>(A.n_nonzeros) / A.n)
  {
    for (int i = 0; i < A.n; ++i)
      longest_row = std::max(longest_row, A.row_starts.length(i));
    const int n_samples = std::min(n_blocks, n_sampled);
    Neighbourhood near(A);
    for (int k = 0; k < n_samples; ++k) {
      const auto b = static_cast<int>((2LL * k + 1) * n_blocks / (2LL * n_samples));
      near.find(starts[b], starts[b + 1], deepest, static_cast<std::size_t>(scratch));
      add(near.counts(), scratch);
    }
  }

  /// Rows computed in a sweep of @p depth steps, for each that is needed.
  double work(const int depth) const
  {
    double computed = 0.;
    for (int level = 0; level < depth; ++level)
      computed += within[level];
    return computed / (depth * within[0]);
  }
  bool fits(const int depth, const double most_work) const
  {
    return depth <= deepest && work(depth) <= most_work;
  }

  /// By estimate: bytes from memory that take as long as a step takes a row, where @p n_steps
  /// steps are made in sweeps of at most @p depth.
  double cost_of_step(const int depth, const int n_steps, const Executor &executor) const
  {
    constexpr double entry = 10.;     // bytes of value and column
    constexpr double input = 12.;     // of a number and its place
    constexpr double of_product = 2.; // as long as an entry times a number from the scratch takes
    constexpr double again = 0.75;    // of the time of a byte, where it is in a cache
    const SweepShape shape =
        choose_sweep_shape(executor.backend(), most_within[depth - 1], longest_row);
    const double passes = shape.width > 0 ? 1. : 1. + again * (depth - 1);
    const double of_sweep =
        (passes * entry * mean_length * within[depth - 1] + input * within[depth]) / within[0];
    const double n_sweeps = static_cast<double>(sweeps_of(n_steps, depth).size());
    const double bytes =
        of_sweep * n_sweeps / n_steps + sizeof(double) + of_product * mean_length * work(depth);
    const int multiprocessors = executor.resident_limits().multiprocessors;
    return bytes * std::max(1., static_cast<double>(multiprocessors) / n_blocks);
  }

private:
  /// A block, with @p counts of unknowns within each distance.
  void add(const std::vector<int> &counts, const int scratch)
  {
    deepest = std::min(deepest, static_cast<int>(counts.size()) - 1);
    while (deepest > 0 && counts[deepest] + counts[deepest - 1] > scratch)
      --deepest;
    for (int level = 0; level <= deepest; ++level) {
      within[level] += counts[level];
      most_within[level] = std::max(most_within[level], counts[level]);
    }
  }

  int n_blocks;
  std::vector<double> within;   ///< unknowns within each distance; own ones first
  std::vector<int> most_within; ///< of one block
  int deepest;                  ///< depth for which all fit
  int longest_row = 0;
  double mean_length;
};

/// Depths that make fewer sweeps of @p n_steps than all smaller ones, or the one that is wanted.
std::vector<int> useful_depths(const int n_steps, const int wanted)
{
  if (wanted > 0)
    return {wanted};
  std::vector<int> depths;
  for (int depth = 2; depth <= std::min(n_steps, MatrixPowers::most_depth); ++depth)
    if (sweeps_of(n_steps, depth).size() < sweeps_of(n_steps, depth - 1).size())
      depths.push_back(depth);
  return depths;
}

/// The cheapest first, at most @p most of them.
void keep_cheapest(std::vector<BlockCandidate> &candidates, const std::size_t most)
{
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto &a, const auto &b) { return a.bytes < b.bytes; });
  if (candidates.size() > most)
    candidates.resize(most);
}

/// The cheapest candidates with these blocks, at most @p most of them.
std::vector<BlockCandidate> candidates_of(const HostCsr &A, const std::vector<int> &starts,
                                          const MatrixPowersOptions &options,
                                          const CacheBlockLimits &limits, const Executor &executor,
                                          const std::size_t most)
{
  std::vector<BlockCandidate> candidates;
  const std::vector<int> depths = useful_depths(options.steps, options.depth);
  if (depths.empty())
    return candidates;
  const BlockEstimate estimate(A, starts, depths.back(), limits.scratch);
  for (const int depth : depths)
    if (estimate.fits(depth, limits.most_work))
      candidates.push_back({starts, depth, estimate.cost_of_step(depth, options.steps, executor)});
  keep_cheapest(candidates, most);
  return candidates;
}

/// The cheapest first; those left out do not fit.
std::vector<BlockCandidate> block_candidates(const HostCsr &A, const MatrixPowersOptions &options,
                                             const CacheBlockLimits &limits,
                                             const Executor &executor)
{
  if (!options.starts.empty())
    return candidates_of(A, options.starts, options, limits, executor, n_trials);
  const std::vector<int> sizes = block_sizes(A.n, options, executor.resident_limits());
  const std::size_t most = sizes.size() > 1 ? of_one_size : n_trials;
  std::vector<BlockCandidate> candidates;
  for (const int size : sizes)
    if (size / 2 < A.n)
      for (BlockCandidate &candidate :
           candidates_of(A, equal_blocks(A.n, size), options, limits, executor, most))
        candidates.push_back(std::move(candidate));
  keep_cheapest(candidates, candidates.size());
  return candidates;
}

/// Times forms on vectors of its own, keeps the fastest, and tells of all.
class Contest
{
public:
  Contest(const ExecutorPtr &executor, const int n, const int n_steps)
      : executor(executor), steps(static_cast<std::size_t>(steps_in_memory(n, n_steps))),
        memory(executor, (steps.size() + 1) * static_cast<std::size_t>(n)),
        V{memory.data(), static_cast<std::size_t>(n), static_cast<int>(steps.size()) + 1}
  {
    memory.fill_zero();
    story.precision(3);
    story << "; chosen by us a step:";
  }

  void enter(const std::string &name, std::unique_ptr<MatrixPowers> form)
  {
    const double time = seconds(*form);
    story << (best ? ", " : " ") << name << ' ' << 1e6 * time;
    // So much faster than what was there before that noise decides little.
    constexpr double clearly_faster = 0.97;
    if (best && time > clearly_faster * least)
      return;
    best = std::move(form);
    least = time;
  }
  /// A GPU that has been idle is slow for a while: no trial counts before it is awake.
  void wake(const MatrixPowers &form) const
  {
    double before = 0., now = seconds(form);
    do {
      before = now;
      now = seconds(form);
    } while (now < 0.9 * before);
  }
  bool is_open() const
  {
    return best == nullptr;
  }
  std::unique_ptr<MatrixPowers> winner()
  {
    best->add_remark(story.str());
    return std::move(best);
  }

private:
  /// Of a step: the best of some, after one that is not counted.
  double seconds(const MatrixPowers &powers) const
  {
    constexpr int repeats = 5;
    constexpr double seconds_of_repeat = 2e-3; // shorter ones see a GPU that is not awake
    int runs = 1;
    double shortest = 0.;
    for (int repeat = 0; repeat <= repeats; ++repeat) {
      const Stopwatch watch;
      for (int k = 0; k < runs; ++k)
        powers.compute(V, steps);
      executor->synchronize();
      const double one = watch.elapsed() / runs;
      shortest = repeat <= 1 ? one : std::min(shortest, one);
      runs = static_cast<int>(std::clamp(seconds_of_repeat / one, 1., 200.));
    }
    return shortest / static_cast<double>(steps.size());
  }

  /// As many as a part of the free memory has vectors for.
  int steps_in_memory(const int n, const int n_steps) const
  {
    const std::size_t vectors = executor->memory().free / 4 / (sizeof(double) * std::max(n, 1));
    return static_cast<int>(std::clamp<std::size_t>(vectors, 3, n_steps + 1UL)) - 1;
  }

  ExecutorPtr executor;
  std::vector<BasisStep> steps;
  Buffer<double> memory;
  Columns V;
  std::unique_ptr<MatrixPowers> best;
  double least = 0.;
  std::ostringstream story;
};
} // namespace

std::unique_ptr<MatrixPowers> make_tuned_powers(const Matrix &A, const DiagonalView &m,
                                                const MatrixPowersOptions &options,
                                                const PowersForms &forms, const int log_slice)
{
  const ExecutorPtr executor = A.executor();
  const bool may_be_plain = options.kind == PowersKind::automatic;
  auto plain = forms.plain(A, m);
  if (A.n() == 0)
    return plain;
  Contest contest(executor, A.n(), options.steps);
  contest.wake(*plain);
  if (may_be_plain)
    contest.enter("plain", std::move(plain));
  const HostCopy host(A, m);
  const CacheBlockLimits limits{forms.most_scratch(*executor)};
  int trials = 0;
  std::string obstacle =
      "no blocks of 256 to 8192 rows with two or more steps fit into the scratch "
      "of a team, without more than three times the work";
  for (const BlockCandidate &candidate :
       block_candidates(host.scaled().A, options, limits, *executor)) {
    const CacheBlocks blocks =
        make_cache_blocks(host.scaled(), candidate.starts, candidate.depth, log_slice, limits);
    if (!blocks.obstacle.empty()) {
      obstacle = blocks.obstacle;
      continue;
    }
    contest.enter(std::to_string(candidate.starts[1]) + " x " + std::to_string(candidate.depth),
                  forms.blocked(executor, blocks, A.csr().longest_row()));
    if (++trials == n_trials)
      break;
  }
  if (contest.is_open())
    throw SolverError("Matrix powers in cache blocks cannot be made: " + obstacle +
                      ". Order the unknowns by rcm or a partition, or use plain products.");
  return contest.winner();
}

RowVisits fewest_bytes(const HostCsr &A, const int n_steps, const std::size_t most_bytes,
                       const int log_slice)
{
  RowVisits best = plan_visits_within(A, 1, most_bytes, log_slice);
  const auto streamed = [n_steps](const RowVisits &visits) {
    return sweeps_of(n_steps, visits.depth).size() * visits.total_bytes();
  };
  for (const int depth : useful_depths(n_steps, 0)) {
    try {
      RowVisits visits = plan_visits_within(A, depth, most_bytes, log_slice);
      if (streamed(visits) < streamed(best))
        best = std::move(visits);
    }
    catch (const DeviceError &) { // not so deep
      break;
    }
  }
  return best;
}
} // namespace femgpu::linalg
