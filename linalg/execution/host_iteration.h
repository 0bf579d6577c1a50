#ifndef femgpu_linalg_execution_host_iteration_h
#define femgpu_linalg_execution_host_iteration_h

#include "linalg/base/error.h"
#include "linalg/execution/executor.h"
#include "linalg/execution/steps.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace femgpu::linalg
{
/// Steps run on the cores of the host: an OpenMP loop over chunks of rows for each step.
struct HostBackend
{
  static constexpr BackendKind kind = BackendKind::host;
};

/**
 * Runs steps on the host. The rows are cut into chunks of a fixed size whose sums are added in
 * their order, so that the result does not depend on the number of threads.
 */
template <class State, class Sums>
class Iteration<HostBackend, State, Sums>
{
public:
  /// @param n largest number of rows of a step
  Iteration(const Executor &executor, const int n)
      : n_threads(static_cast<int>(static_cast<const HostExecutor &>(executor).n_threads())),
        partials(static_cast<std::size_t>(n_chunks(n)))
  {}

  void set_state(const State &s)
  {
    state = s;
  }
  State get_state() const
  {
    return state;
  }

  /// Runs the steps once, in order.
  template <class... Steps>
  void once(const Steps &...steps)
  {
    (run(steps), ...);
  }

  /// Runs the steps in order, again and again while the state says running.
  template <class... Steps>
  void repeat(const Watch<State> &watch, const Steps &...steps)
  {
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    while (state.running) {
      (run(steps), ...);
      if (watch && std::chrono::duration<double>(clock::now() - last).count() > watch_interval) {
        watch(state);
        last = clock::now();
      }
    }
  }

private:
  static constexpr int rows_per_chunk = 1024;
  // With less work than this a thread costs more than it brings.
  static constexpr int chunks_per_thread = 4;

  static int n_chunks(const int n)
  {
    return n / rows_per_chunk + (n % rows_per_chunk > 0 ? 1 : 0);
  }

  template <class Step>
  void run(const Step &step)
  {
    if (!state.running) // an earlier step of this pass has ended the loop
      return;
    const State s = state;
    // All chunks, so that steps of different length can share sums.
    const int chunks = static_cast<int>(partials.size());
    const int threads = std::clamp(chunks / chunks_per_thread, 1, n_threads);
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (int chunk = 0; chunk < chunks; ++chunk) {
      Sums sums{};
      const int begin = chunk * rows_per_chunk;
      const int end = std::min(step.n - begin, rows_per_chunk) + begin;
      for (int i = begin; i < end; ++i)
        run_row(step, s, i, sums);
      set_sums(partials[static_cast<std::size_t>(chunk)], sums, contributes(step));
    }
    if constexpr (HasEpilogue<decltype(step.body)>::value) {
      Sums total{};
      for (int chunk = 0; chunk < chunks; ++chunk)
        add_sums(total, partials[static_cast<std::size_t>(chunk)], completes(step));
      step.body.finish(state, total);
    }
  }

  template <class Step>
  static auto contributes(const Step & /* step */)
  {
    return typename decltype(Step::body)::Contributes{};
  }
  template <class Step>
  static auto completes(const Step & /* step */)
  {
    return typename decltype(Step::body)::Completes{};
  }

  template <class Body>
  static void run_row(const RowStep<Body> &step, const State &s, const int i, Sums &sums)
  {
    step.body(s, i, sums);
  }
  template <class View, class Body>
  static void run_row(const ProductStep<View, Body> &step, const State &s, const int i, Sums &sums)
  {
    step.body(s, i, step.A.row_product(i, 0, step.v), sums);
  }

  int n_threads;
  State state{};
  std::vector<Sums> partials;
};
} // namespace femgpu::linalg

#endif
