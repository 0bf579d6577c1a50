#ifndef femgpu_linalg_execution_host_batch_h
#define femgpu_linalg_execution_host_batch_h

#include "linalg/base/parallel.h"
#include "linalg/execution/host/executor.h"
#include "linalg/execution/host/runner.h"
#include "linalg/steps/batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/// The block (see steps/batch.h) in which one thread of the host solves one system of a batch.
template <class Program>
class HostBlock
{
public:
  using State = typename Program::State;
  using Sums = typename Program::Sums;
  static constexpr int n_vectors = Program::n_vectors;
  static constexpr int x = 0, r = 1;
  /// The number of arrays of a system in the workspace: all vectors, and the diagonal of M⁻¹.
  static constexpr int n_arrays = n_vectors + 1;

  /// @param workspace memory for n_arrays arrays of n numbers
  HostBlock(const BatchSystem &system, const bool uses_diagonal, const State &start,
            double *workspace)
      : system(system), diagonal(workspace), own_state(start)
  {
    const int n = system.A.n;
    for (int vector = 0; vector < n_vectors; ++vector)
      vectors.data[vector] = workspace + (static_cast<std::size_t>(vector) + 1) * n;
    std::copy_n(system.x, n, vectors.data[x]);
    for (int i = 0; i < n; ++i)
      diagonal[i] = uses_diagonal ? 1. / system.A.diagonal(i) : 1.;
    std::fill_n(vectors.data[r], n, 0.);
    own_state.history = epilogue_values.data() + epilogue_values.size();
    clear_vectors(/* keeps_x */ true);
  }

  const State &state() const
  {
    return own_state;
  }

  template <class Action>
  void change_state(const Action &action)
  {
    action(own_state);
  }

  void clear_vectors(const bool keeps_x)
  {
    for (int vector = 0; vector < n_vectors; ++vector)
      if (vector != r && (vector != x || !keeps_x))
        std::fill_n(vectors.data[vector], system.A.n, 0.);
  }

  void end_run(const bool keeps_x)
  {
    if (keeps_x)
      std::copy_n(vectors.data[x], system.A.n, system.x);
    else
      std::copy_n(system.x, system.A.n, vectors.data[x]);
  }

  template <class Formulas>
  void magnitudes()
  {
    Sums total_sums{};
    for (int i = 0; i < system.A.n; ++i)
      Formulas::row_sums(system.A.row_magnitude(i, system.x) + std::fabs(system.b[i]), total_sums);
    Formulas().finish(own_state, total_sums);
  }

  template <class... Formulas>
  void run(StepList<Formulas...> /* steps */)
  {
    (run_step<Formulas>(), ...);
  }

  template <class Formulas>
  void residual()
  {
    Sums total_sums{};
    for (int i = 0; i < system.A.n; ++i)
      vectors.data[r][i] =
          Formulas::row_sums(system.b[i], product(i, x), vectors.data[x][i], total_sums);
    Formulas().finish(own_state, total_sums);
  }

private:
  double product(const int i, const int vector) const
  {
    return system.A.row_product(i, 0, 1, vectors.data[vector]);
  }

  // Not inlined: if the whole solve were one function, its loops would run out of registers.
  template <class Formulas>
  [[gnu::noinline]] void run_step()
  {
    if (!own_state.running)
      return;
    const State s = own_state; // the compiler then knows that rows do not change it
    Sums total_sums{};
    for (int i = 0; i < system.A.n; ++i) {
      Row<n_vectors> row{i, {}};
      vectors.load(i, row, typename Formulas::Reads{});
      if constexpr (IsProduct<Formulas>::value)
        Formulas()(s, row, product(i, Formulas::factor), diagonal[i], total_sums);
      else
        Formulas()(s, row, diagonal[i], total_sums);
      vectors.store(i, row, typename Formulas::Writes{});
    }
    set_sums(sums, total_sums, typename Formulas::Contributes{});
    if constexpr (HasEpilogue<Formulas>::value)
      finish_step(Formulas(), own_state, sums);
  }

  const BatchSystem &system;
  VectorSet<n_vectors> vectors;
  double *diagonal;
  State own_state;
  std::array<double, State::n_epilogue_values> epilogue_values;
  Sums sums{};
};

/// Solves several systems at the same time, each on one thread; the result does not depend on the
/// number of threads.
template <>
class BatchRunner<HostBackend>
{
public:
  /// @throws DeviceError if the vectors of one system per thread do not fit in memory
  template <class Program>
  static void run(const SystemBatch &batch, const typename Program::State &start,
                  Buffer<typename Program::Result> &results)
  {
    const Buffer<BatchSystem> &systems = *batch.systems;
    const auto n_systems = static_cast<int>(systems.size());
    const auto &executor = static_cast<const HostExecutor &>(*batch.executor);
    const int threads = std::clamp(n_systems, 1, static_cast<int>(executor.n_threads()));
    int largest = 0;
    for (int k = 0; k < n_systems; ++k)
      largest = std::max(largest, systems.data()[k].A.n);
    const std::size_t size_per_thread =
        static_cast<std::size_t>(largest) * HostBlock<Program>::n_arrays;
    Buffer<double> workspace(executor.shared_from_this(), size_per_thread * threads);
    const auto solve = [&](const int k, const int thread) {
      double *const own = workspace.data() + size_per_thread * thread;
      HostBlock<Program> block(systems.data()[k], batch.uses_diagonal, start, own);
      Program::run(block);
      results.data()[k] = Program::result(block.state());
    };
    parallel_for_dynamic(n_systems, 1, solve, threads);
  }
};
} // namespace femgpu::linalg

#endif
