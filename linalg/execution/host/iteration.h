#ifndef femgpu_linalg_execution_host_iteration_h
#define femgpu_linalg_execution_host_iteration_h

#include "linalg/base/parallel.h"
#include "linalg/execution/host/executor.h"
#include "linalg/execution/host/runner.h"
#include "linalg/steps/execution.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * Runs the steps (steps/steps.h) of a solver's loop on the host. The rows are divided into chunks
 * of a fixed size whose sums are added in order, so that the result does not depend on the number
 * of threads. If the rows are distributed over ranks, sums include the rows of all ranks, so that
 * all ranks make the same decisions.
 */
template <class State, class Sums>
class Iteration<HostBackend, State, Sums>
{
public:
  /// @param space has at least as many rows as each step
  explicit Iteration(const RowSpace &space)
      : n_threads(
            static_cast<int>(static_cast<const HostExecutor &>(*space.executor()).n_threads())),
        runner(*space.executor()), partials(static_cast<std::size_t>(n_chunks(space.n()))),
        communicator(space.communicator())
  {}

  /// Does nothing: the host has only one way to run steps.
  void set_execution(const Execution /* how */)
  {}
  static std::string execution()
  {
    return "loops over rows";
  }

  /// Allocates memory for @p size numbers that epilogues write: first LoopState::n_epilogue_values
  /// numbers, then the history of residuals.
  double *allocate_numbers(const int size)
  {
    numbers = std::make_unique<double[]>(static_cast<std::size_t>(size));
    return numbers.get();
  }
  /// Returns the first @p count of the numbers that allocate_numbers() has allocated.
  std::vector<double> get_numbers(const int count) const
  {
    return {numbers.get(), numbers.get() + count};
  }

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

  /// Runs the steps in order, repeatedly while the state is running.
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

  /// Runs the step @p begin, then the loop (repeat()), then the step @p end.
  /// @param has_begun whether @p begin has already been run, and is not run again
  template <class Begin, class End, class... Steps>
  void repeat_between(const Begin &begin, const End &end, const bool has_begun,
                      const Watch<State> &watch, const Steps &...steps)
  {
    if (!has_begun)
      once(begin);
    repeat(watch, steps...);
    once(end);
  }

  /// Returns false: the host cannot keep a basis in on-chip memory.
  template <class Matrix, class Method>
  static bool try_on_chip(const Matrix & /* A */, const Watch<State> & /* watch */,
                          const Method & /* method */)
  {
    return false;
  }

private:
  static constexpr int rows_per_chunk = 1024;
  // With fewer chunks per thread, starting a thread costs more than it saves.
  static constexpr int chunks_per_thread = 4;

  static int n_chunks(const int n)
  {
    return n / rows_per_chunk + (n % rows_per_chunk > 0 ? 1 : 0);
  }

  template <class Body>
  void run(const RowStep<Body> &step)
  {
    if (!state.running && !RunsAlways<Body>::value) // an earlier step has ended the loop
      return;
    run_rows(step.n, step.body,
             [&](const State &s, const int i, Sums &sums) { run_body(step.body, s, i, sums); });
  }

  template <class Operator, class Body>
  void run(const ProductStep<Operator, Body> &step)
  {
    if (!state.running && !RunsAlways<Body>::value)
      return;
    const double *const v = prepare_product(*step.A, runner, step.v);
    const auto run_view = [&](const auto &A) {
      run_rows(A.n, step.body, [&](const State &s, const int i, Sums &sums) {
        run_body(step.body, s, A.row(i), sums, A.row_product(i, 0, 1, v));
      });
    };
    visit_view(*step.A, run_view);
  }

  template <class Body>
  void run(const GramStep<Body> &step)
  {
    if (!state.running)
      return;
    run_gram(step, n_threads);
    step.body.finish(state);
  }

  template <class Body>
  void run(const TeamStep<Body> &step)
  {
    if (state.running || RunsAlways<Body>::value)
      runner.run(step);
  }

  template <class Make>
  void run(const CountedSteps<Make> &steps)
  {
    for (int j = 0; j < steps.count; ++j)
      std::apply([this](const auto &...steps_of_j) { (run(steps_of_j), ...); }, steps.make(j));
  }

  template <class... Steps>
  void run(const InnerLoop<Steps...> &loop)
  {
    while (state.running && state.inner)
      std::apply([this](const auto &...steps) { (run(steps), ...); }, loop.steps);
  }

  /// Calls @p run_row for n rows, adds up the body's sums, and runs its epilogue, if any.
  template <class Body, class Function>
  void run_rows(const int n, const Body &body, const Function &run_row)
  {
    // Loops over all chunks, even if n is smaller: steps with different n can then share sums.
    const int chunks = static_cast<int>(partials.size());
    const int threads = std::clamp(chunks / chunks_per_thread, 1, n_threads);
    const auto run_chunk = [&](const int chunk) {
      const State s = state; // the compiler then knows that rows do not change it
      Sums sums{};
      const int begin = chunk * rows_per_chunk;
      const int end = std::min(n - begin, rows_per_chunk) + begin;
      for (int i = begin; i < end; ++i)
        run_row(s, i, sums);
      set_sums(partials[static_cast<std::size_t>(chunk)], sums, AddedSums<Body>{});
    };
    parallel_for(chunks, run_chunk, threads);
    if constexpr (HasEpilogue<Body>::value) {
      Sums total{};
      for (const Sums &partial : partials)
        add_sums(total, partial, CompletedSums<Body>{});
      if constexpr (!CompletedSums<Body>::empty)
        if (communicator != nullptr)
          sum_over_ranks(*communicator, total, CompletedSums<Body>{});
      finish_step(body, state, total);
    }
  }

  int n_threads;
  Runner<HostBackend> runner;
  State state{};
  std::unique_ptr<double[]> numbers;
  std::vector<Sums> partials;
  const Communicator *communicator;
};
} // namespace femgpu::linalg

#endif
