#include "linalg/powers/matrix_powers.h"

#include "linalg/base/error.h"
#include "linalg/execution/backends.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/powers/forms.h"
#include "linalg/powers/tuning.h"

#include <algorithm>
#include <limits>

namespace femgpu::linalg
{
namespace
{
int log_slice_for(const Executor &executor)
{
  return executor.backend() == BackendKind::host ? 0 : log_slice_of_gpu;
}

void check_range(const char *const name, const int value, const int lower_limit,
                 const int upper_limit)
{
  if (value < lower_limit || value > upper_limit)
    throw ParameterError(std::string("Matrix powers with ") + name + " = " + std::to_string(value) +
                         " are not possible; use " + std::to_string(lower_limit) + " to " +
                         std::to_string(upper_limit) + ".");
}

void check_options(const MatrixPowersOptions &options)
{
  check_range("steps", options.steps, 1, 1 << 20);
  check_range("depth", options.depth, 0, MatrixPowers::max_depth);
  if (options.block != MatrixPowersOptions::parts_of_order)
    check_range("block", options.block, 0, 1 << 30);
}

/// Makes powers with cache blocks of the size and depth in @p options.
/// @throws SolverError with the reason if such blocks are impossible
std::unique_ptr<MatrixPowers> make_fixed_blocks(const Matrix &A, const DiagonalView &m,
                                                const MatrixPowersOptions &options,
                                                const PowersForms &forms)
{
  const ExecutorPtr &executor = A.executor();
  const auto copy = forms.copy(A, m, options.depth);
  const CacheBlocks blocks =
      make_cache_blocks(copy->scaled, block_starts(A, options.block), options.depth,
                        log_slice_for(*executor), {forms.max_scratch(*executor)});
  if (const std::string obstacle = obstacle_on_any_rank(*A.range(), blocks); !obstacle.empty())
    throw SolverError(
        "Matrix powers cannot be computed in cache blocks: " + obstacle +
        ". Reduce block=ROWS or depth=K, use ordering rcm or kway, or set powers=plain.");
  return forms.blocked(copy->space, blocks);
}

std::unique_ptr<MatrixPowers> make_streamed(const RowSpacePtr &space, const ScaledMatrix &A,
                                            const int depth, const std::size_t memory)
{
  const ExecutorPtr &executor = space->executor();
  const RowBlockPasses passes = plan_passes_within(A, depth, memory / 2, log_slice_for(*executor));
  const std::size_t n_passes = passes.passes.size();
  const std::size_t n_slots =
      n_passes == 0 ? 1 : std::min(n_passes, memory / passes.largest_bytes());
  return powers_forms(executor->backend()).streamed(space, A, passes, static_cast<int>(n_slots));
}

bool needs_trials(const MatrixPowersOptions &options)
{
  const bool is_fixed = options.depth > 0 && options.block != 0;
  return options.kind == PowersKind::automatic ||
         (options.kind == PowersKind::blocked && !is_fixed);
}

std::unique_ptr<MatrixPowers> make_of_kind(const Matrix &A, const DiagonalView &m,
                                           const MatrixPowersOptions &options,
                                           const PowersForms &forms)
{
  const bool is_distributed = A.range()->communicator() != nullptr;
  if (options.kind == PowersKind::streamed)
    return make_streamed_powers(A, m, options, forms);
  if (options.kind == PowersKind::blocked)
    return make_fixed_blocks(A, m, options, forms);
  return is_distributed && options.depth > 1
             ? make_exchanging_powers(*forms.copy(A, m, options.depth), options.depth)
             : forms.plain(A, m);
}
} // namespace

std::vector<int> block_starts(const Matrix &A, const int block)
{
  const std::vector<int> &parts = A.csr().unknowns()->part_starts;
  const bool is_by_parts = block == MatrixPowersOptions::parts_of_order && !parts.empty();
  return is_by_parts ? parts : equal_blocks(A.n(), block);
}

std::size_t memory_for_stream(const Executor &executor, const MatrixPowersOptions &options)
{
  const std::size_t free = executor.memory().free;
  return options.memory > 0 ? options.memory : (free - std::min(free, options.reserved)) / 2;
}

std::unique_ptr<MatrixPowers> make_streamed_powers(const Matrix &A, const DiagonalView &m,
                                                   const MatrixPowersOptions &options,
                                                   const PowersForms &forms)
{
  const Executor &executor = *A.executor();
  const std::size_t memory = memory_for_stream(executor, options);
  const int upper_limit = options.depth > 0 ? options.depth : deepest_sweep(A, options);
  auto copy = forms.copy(A, m, upper_limit);
  const int depth = options.depth > 0
                        ? options.depth
                        : depth_of_fewest_bytes(copy->scaled, *A.range(), options.steps,
                                                upper_limit, memory / 2, log_slice_for(executor));
  if (depth < upper_limit && A.range()->communicator() != nullptr) // a copy with fewer ghosts
    copy = forms.copy(A, m, depth);
  return make_streamed(copy->space, copy->scaled, depth, memory);
}

std::unique_ptr<MatrixPowers> make_exchanging_powers(const HostCopy &copy, const int depth)
{
  constexpr auto upper_limit = std::numeric_limits<std::size_t>::max(); // all rows stay in memory
  auto powers = make_streamed(copy.space, copy.scaled, depth, upper_limit);
  powers->add_remark("; ghost values of " + std::to_string(depth) + " steps exchanged at once");
  return powers;
}

PowersForms powers_forms(const BackendKind backend)
{
  return on_backend(backend, [](const auto on) -> PowersForms {
    using Backend = typename decltype(on)::Backend;
    return {make_plain_powers<Backend>, make_blocked_powers<Backend>, make_streamed_powers<Backend>,
            copy_to_host<Backend>, max_block_scratch<Backend>};
  });
}

PowersKind powers_kind_of(const std::string &word)
{
  for (const PowersKind kind :
       {PowersKind::automatic, PowersKind::plain, PowersKind::blocked, PowersKind::streamed})
    if (word == to_string(kind))
      return kind;
  throw ParameterError("Matrix powers '" + word +
                       "' are unknown; use auto, plain, blocked or streamed.");
}

std::string to_string(const PowersKind kind)
{
  constexpr const char *names[] = {"auto", "plain", "blocked", "streamed"};
  return names[static_cast<int>(kind)];
}

void MatrixPowers::compute(const Columns &V, const std::vector<BasisStep> &steps) const
{
  if (static_cast<std::size_t>(V.count) < steps.size() + 1)
    throw ParameterError("A basis of " + std::to_string(V.count) + " vectors is too short for " +
                         std::to_string(steps.size()) +
                         " steps. Use at least one vector more than steps.");
  if (!steps.empty() && steps.front().square != 0.)
    throw ParameterError(
        "The first step of a basis has the square " + std::to_string(steps.front().square) +
        ", but no vector precedes it. Begin with the first step of a complex pair.");
  run(V, steps);
}

std::size_t MatrixPowers::traffic(const int n_steps) const
{
  return sweeps_of(n_steps, properties.depth).size() * properties.bytes_of_sweep +
         static_cast<std::size_t>(n_steps) * properties.bytes_of_step;
}

std::vector<int> sweeps_of(const int n_steps, const int depth)
{
  std::vector<int> sweeps(static_cast<std::size_t>((n_steps + depth - 1) / depth));
  const int n_sweeps = static_cast<int>(sweeps.size());
  for (int k = 0; k < n_sweeps; ++k)
    sweeps[k] = n_steps / n_sweeps + (k < n_steps % n_sweeps ? 1 : 0);
  return sweeps;
}

std::unique_ptr<MatrixPowers> make_matrix_powers(const Matrix &A, const Preconditioner::Action &M,
                                                 const MatrixPowersOptions &options)
{
  check_options(options);
  const auto *const diagonal = std::get_if<DiagonalView>(&M);
  const PowersForms forms = powers_forms(A.executor()->backend());
  if (diagonal != nullptr && needs_trials(options))
    return make_tuned_powers(A, *diagonal, options, forms, log_slice_for(*A.executor()));
  auto powers =
      diagonal == nullptr ? forms.plain(A, M) : make_of_kind(A, *diagonal, options, forms);
  powers->choose(options);
  return powers;
}

std::unique_ptr<MatrixPowers> make_streamed_powers(const ExecutorPtr &executor, const HostCsr &A,
                                                   const double *const m,
                                                   const MatrixPowersOptions &options)
{
  check_options(options);
  ScaledMatrix scaled(A);
  if (m != nullptr)
    scaled.m.assign(m, m + A.n);
  const RowSpace all(executor, A.n);
  const std::size_t memory = memory_for_stream(*executor, options);
  const int depth = options.depth > 0
                        ? options.depth
                        : depth_of_fewest_bytes(scaled, all, options.steps, MatrixPowers::max_depth,
                                                memory / 2, log_slice_for(*executor));
  return make_streamed(std::make_shared<RowSpace>(all), scaled, depth, memory);
}
} // namespace femgpu::linalg
