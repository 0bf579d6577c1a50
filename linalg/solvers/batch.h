#ifndef femgpu_linalg_solvers_batch_h
#define femgpu_linalg_solvers_batch_h

#include "linalg/execution/this_backend.h"
#include "linalg/solvers/krylov.h"
#include "linalg/steps/batch.h"

#include <memory>

namespace femgpu::linalg
{
/// The result of one system of a batch. bb is ‖b‖²; initial_rr and true_rr are ‖b − A x‖² before
/// and after the solve; target is the value that ‖b − A x‖ had to reach.
struct BatchResult
{
  Outcome outcome;
  int iterations, restarts;
  double bb, initial_rr, true_rr, target;
  double scale; ///< (w, w) with w = |A||x| + |b|
  EnergyReport energy;
};

/// Solves many systems together with one method.
class BatchMethod
{
public:
  virtual ~BatchMethod() = default;

  /// Returns the number of vectors that a thread block stores for its system.
  virtual int n_vectors() const = 0;

  /**
   * Solves all systems of @p batch as Solver::solve() would: the true residual decides convergence,
   * and a run is restarted if that promises progress. Systems do not affect each other.
   * @param results one per system, in the order of the systems
   * @throws DeviceError if memory is insufficient. Any other failure is an outcome.
   */
  virtual void solve(const SystemBatch &batch, const SolveControl &control,
                     Buffer<BatchResult> &results) const = 0;
};

/// A batch program (steps/batch.h) that solves one system. It restarts and decides convergence in
/// the same way as solve_to_true_residual(). @p Method supplies State, Sums, n_vectors and the
/// vector steps First and Loop; see ShortRecurrence.
template <class Method>
struct BatchProgram
{
  using Sums = SumsWithResidual<typename Method::Sums>;
  using Result = BatchResult;
  static constexpr int n_vectors = Method::n_vectors;

  struct State : Method::State
  {
    RestartPolicy policy;
    bool has_next_run = true; ///< whether another run follows
    double scale = 0.;
  };

  /// Computes (w, w) with w = |A||x| + |b|.
  struct MeasureScale
  {
    using Contributes = SumList<&Sums::bb>;
    FEMGPU_HD
    static void row_sums(const double w_i, Sums &sums)
    {
      sums.bb += w_i * w_i;
    }

    FEMGPU_HD
    void finish(State &state, const Sums &sums) const
    {
      state.scale = sums.bb;
    }
  };

  template <class Block>
  FEMGPU_HD
  static void run(Block &block)
  {
    while (block.state().has_next_run) {
      block.change_state([](State &state) {
        typename Method::State begun; // the method's scalars before its first step
        static_cast<KrylovState &>(begun) = state;
        state.policy.prepare(begun);
        static_cast<typename Method::State &>(state) = begun;
      });
      block.clear_vectors(/* keeps_x */ true);
      block.template residual<ComputeInitialResidual<State, typename Method::Sums>>();
      if (block.state().bb == 0.) { // x = 0 is the solution, whatever the initial guess
        block.change_state([](State &state) {
          state.initial_rr = -1.;
          state.running = true;
        });
        block.clear_vectors(/* keeps_x */ false);
        block.template residual<ComputeInitialResidual<State, typename Method::Sums>>();
      }
      block.run(typename Method::First());
      while (block.state().running)
        block.run(typename Method::Loop());
      block.template residual<ComputeFinalResidual<typename Method::Sums>>();
      block.change_state(
          [](State &state) { state.has_next_run = state.policy.needs_restart(state); });
      block.end_run(block.state().policy.keeps_x);
    }
    block.template magnitudes<MeasureScale>();
  }

  FEMGPU_HD
  static EnergyReport energy_of(const State &s)
  {
    return State::n_epilogue_values > 0 ? s.energy().report(s.iteration, s.energy_sum)
                                        : EnergyReport();
  }

  FEMGPU_HD
  static BatchResult result(const State &s)
  {
    return {s.policy.outcome, s.iteration, s.policy.restarts, s.bb,        s.initial_rr,
            s.policy.best_rr, s.target,    s.scale,           energy_of(s)};
  }
};

/// Solves batches by @p Method on @p Backend.
template <class Backend, class Method>
class BatchMethodOf final : public BatchMethod
{
public:
  int n_vectors() const override
  {
    return Method::n_vectors;
  }

  void solve(const SystemBatch &batch, const SolveControl &control,
             Buffer<BatchResult> &results) const override
  {
    using Program = BatchProgram<Method>;
    typename Program::State start;
    static_cast<KrylovState &>(start) = state_for<typename Method::State>(control);
    BatchRunner<Backend>::template run<Program>(batch, start, results);
  }
};
} // namespace femgpu::linalg

#endif
