#ifndef femgpu_linalg_solvers_krylov_h
#define femgpu_linalg_solvers_krylov_h

#include "linalg/base/trace_range.h"
#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/solvers/krylov_state.h"
#include "linalg/solvers/method_report.h"
#include "linalg/solvers/solver.h"
#include "linalg/solvers/work_vectors.h"
#include "linalg/steps/vector_steps.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/**
 * @file
 * Shared parts of Krylov solvers, except their state: the steps (steps/steps.h) that compute the
 * true residual, and the outer loop, in which the true residual alone decides convergence.
 */
namespace femgpu::linalg
{
struct ResidualState : LoopState
{
  double rr = 0., bb = 0.;
};

struct ResidualSums
{
  double rr, bb;
};

/// The sums of a method and of the true residual.
template <class Sums>
struct SumsWithResidual : Sums
{
  double true_rr, bb, energy; ///< energy = (b, x) + (x, r)
};

/// Computes r = b − A x, (r, r) and (b, b).
template <class Sums>
struct TrueResidual
{
  const double *b;
  double *r;

  using Contributes = SumList<&SumsWithResidual<Sums>::true_rr, &SumsWithResidual<Sums>::bb>;
  FEMGPU_HD
  void operator()(const KrylovState & /* s */, const int i, const double Ax_i,
                  SumsWithResidual<Sums> &sums) const
  {
    r[i] = row_sums(b[i], Ax_i, /* x_i */ 0., sums);
  }

  /// Returns r_i, and adds its contribution to the sums.
  FEMGPU_HD
  static double row_sums(const double b_i, const double Ax_i, const double /* x_i */,
                         SumsWithResidual<Sums> &sums)
  {
    const double r_i = b_i - Ax_i;
    sums.true_rr += r_i * r_i;
    sums.bb += b_i * b_i;
    return r_i;
  }
};

/// Computes the true residual before the first iteration, saves x and sets the target. Stops if no
/// iteration is needed.
template <class State, class Sums>
struct ComputeInitialResidual : TrueResidual<Sums>
{
  const double *x;
  double *initial_x; ///< x at the start of the run

  using Contributes = SumList<&SumsWithResidual<Sums>::true_rr, &SumsWithResidual<Sums>::bb,
                              &SumsWithResidual<Sums>::energy>;
  FEMGPU_HD
  void operator()(const KrylovState & /* s */, const int i, const double Ax_i,
                  SumsWithResidual<Sums> &sums) const
  {
    initial_x[i] = x[i];
    this->r[i] = row_sums(this->b[i], Ax_i, x[i], sums);
  }

  FEMGPU_HD
  static double row_sums(const double b_i, const double Ax_i, const double x_i,
                         SumsWithResidual<Sums> &sums)
  {
    const double r_i = TrueResidual<Sums>::row_sums(b_i, Ax_i, x_i, sums);
    sums.energy += x_i * (b_i + r_i);
    return r_i;
  }

  FEMGPU_HD
  void finish(State &s, const SumsWithResidual<Sums> &sums) const
  {
    if constexpr (State::n_epilogue_values > 0)
      s.begin_energy(sums.energy);
    s.KrylovState::begin(sums.true_rr, sums.bb);
    if (sums.bb == 0.) // x = 0
      s.stop(Outcome::converged);
  }
};

/// Computes the true residual after the last iteration.
template <class Sums>
struct ComputeFinalResidual : TrueResidual<Sums>
{
  static constexpr bool runs_always = true;
  FEMGPU_HD
  void finish(KrylovState &s, const SumsWithResidual<Sums> &sums) const
  {
    s.true_rr = sums.true_rr;
    s.bb = sums.bb;
  }
};

/// Returns the state before the first run of a method with state type @p State.
template <class State>
KrylovState state_for(const SolveControl &control)
{
  KrylovState state;
  const SolveControl::EnergyTolerance &energy_tolerance = control.energy_tolerance;
  state.stops_by_error = energy_tolerance.is_set();
  state.max_iterations = control.max_iterations;
  state.relative_tolerance =
      state.stops_by_error ? energy_tolerance.relative : control.relative_tolerance;
  state.absolute_tolerance =
      state.stops_by_error ? energy_tolerance.absolute : control.absolute_tolerance;
  state.is_relative_to_rhs = control.reference == SolveControl::Reference::rhs;
  state.growth_limit = State::divergence_factor;
  state.has_variants = State::supports_variants;
  return state;
}

/// Returns the execution of a loop: the requested one, but `graph` if the energy error ends the
/// solve. Loops that keep their vectors on the chip of a GPU compute this error only at their end,
/// because earlier checks would add a tenth to the time of small systems.
/// @throws ParameterError if the error is to end the solve but execution `resident` is requested
inline Execution execution_for(const SolveControl &control)
{
  if (!control.energy_tolerance.is_set())
    return control.execution;
  if (control.execution == Execution::resident)
    throw ParameterError("Execution 'resident' cannot stop at the energy error. Use execution auto "
                         "or graph, or stop at the residual.",
                         "execution");
  return Execution::graph;
}

/// The largest number of residuals in a history.
constexpr int longest_history = 1 << 20;

/**
 * The outer loop of all Krylov solvers, and of nonlinear conjugate gradients. @p run(state) saves
 * x, computes the residual of x, calls state.begin(), iterates until an epilogue (steps/steps.h)
 * stops the state, and recomputes the residual for true_rr. RestartPolicy decides whether another
 * run follows. @p restore() resets x to the values that the last run has saved. The final x is the
 * best among the results of the runs and the initial guess.
 * @tparam State state of the method
 * @param iteration used by @p run; stores the history
 * @param report already contains the names of the methods and the sizes of their data
 */
template <class State, class Iteration, class Run, class Restore>
SolveReport solve_to_true_residual(Iteration &iteration, const Matrix &A,
                                   const SolveControl &control, SolveReport report, const Run &run,
                                   const Restore &restore)
{
  const TraceRange range(report.method.solver.c_str());
  const auto begin = std::chrono::steady_clock::now();
  const int history_size = std::min(control.max_iterations, longest_history - 1) + 1;

  KrylovState state = state_for<State>(control);
  double *const numbers = iteration.allocate_numbers(State::n_epilogue_values + history_size);
  state.history = numbers + State::n_epilogue_values;
  state.history_size = history_size;
  state.value_precision = A.value_precision();
  RestartPolicy policy;
  for (bool has_next_run = true; has_next_run;) {
    policy.prepare(state);
    state = run(state);
    has_next_run = policy.needs_restart(state);
    if (!policy.keeps_x)
      restore();
  }
  report.outcome = policy.outcome;
  report.restarts = policy.restarts + state.restarts;
  report.rhs_norm = std::sqrt(state.bb);
  report.initial_residual = std::sqrt(state.initial_rr);
  report.target = state.target;
  report.iterations = state.iteration;
  report.true_residual = std::sqrt(policy.best_rr);
  std::vector<double> left =
      iteration.get_numbers(State::n_epilogue_values + std::min(state.iteration + 1, history_size));
  if constexpr (State::n_epilogue_values > 0) {
    EnergyError error;
    std::memcpy(&error, left.data(), sizeof(error));
    report.energy = error.report(state.iteration, state.energy_sum);
  }
  report.history.assign(left.begin() + State::n_epilogue_values, left.end());
  for (double &norm : report.history)
    norm = std::sqrt(norm);
  report.history.front() = report.initial_residual; // also if no iteration was needed
  report.costs.solve_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

/// Whether the action of M⁻¹ is fused into the steps of the solver. Otherwise the solver receives a
/// PreconditionerOperator.
template <class MView>
constexpr bool is_fused = !std::is_same_v<std::decay_t<MView>, const PreconditionerOperator *>;

/// Returns the diagonal for the steps of the method: M⁻¹ if it is fused into them, else I.
template <class M>
DiagonalView fused_diagonal([[maybe_unused]] const M &m)
{
  if constexpr (is_fused<M>)
    return m;
  else
    return {};
}

/// Returns a tuple with one step, which runs @p body with the rows of M⁻¹v. If M⁻¹ is fused into
/// other steps, the tuple is empty.
template <class M, class Body>
auto preconditioning([[maybe_unused]] const M &m, [[maybe_unused]] double *const v,
                     [[maybe_unused]] const Body &body)
{
  if constexpr (is_fused<M>)
    return std::tuple();
  else
    return std::tuple(product(*m, v, body));
}

/// Returns the result of run(start). If this run finds that b = 0, sets x = 0, which is the
/// solution whatever the initial guess, and runs again.
template <class Run>
KrylovState run_from(Buffer<double> &x, const KrylovState &start, const Run &run)
{
  const KrylovState state = run(start);
  if (state.bb != 0.)
    return state;
  x.fill_zero();
  return run(start);
}

/// Runs a loop between two products A x, which compute the true residual before and after the loop.
/// The first product is deferred until its result is needed, because a GPU may run it together with
/// the loop.
template <class Iteration, class Begin, class End>
class LoopWithTrueResidual
{
public:
  LoopWithTrueResidual(Iteration &iteration, const ProductStep<ExactProduct, Begin> &begin,
                       const ProductStep<ExactProduct, End> &end)
      : iteration(iteration), begin(begin), end(end)
  {}

  template <class... Steps>
  void once(const Steps &...steps)
  {
    if (!has_begun)
      iteration.once(begin);
    has_begun = true;
    iteration.once(steps...);
  }

  template <class Watch, class... Steps>
  void repeat(const Watch &watch, const Steps &...steps)
  {
    iteration.repeat_between(begin, end, has_begun, watch, steps...);
  }

  /// Runs @p method, which includes both products, in a single kernel that keeps its vectors on the
  /// chip. Returns false, without any effect, if this is impossible or not requested.
  template <class Watch, class Method>
  bool try_on_chip(const Matrix &A, const Watch &watch, const Method &method)
  {
    return !has_begun && iteration.try_on_chip(A, watch, method);
  }

private:
  Iteration &iteration;
  ProductStep<ExactProduct, Begin> begin;
  ProductStep<ExactProduct, End> end;
  bool has_begun = false;
};

/**
 * Solves A x = b with fused steps. @p iterate(iteration, m, initial_x) receives the view of M⁻¹ and
 * runs the steps of the method that follow the initial residual, with a new @p State, until an
 * epilogue stops the state. The loop must be the last of these steps. A loop that computes the
 * initial residual itself saves x in the n rows of initial_x.
 * @param r receives the residual; n rows
 */
template <class Backend, class State, class Sums, class Iterate>
SolveReport solve_with_steps(const std::string &solver, const Matrix &A, const Preconditioner &M,
                             const Buffer<double> &b, Buffer<double> &x, double *const r,
                             const SolveControl &control, const IterationCosts &costs,
                             const Iterate &iterate)
{
  const auto m_view = M.action();
  const IterationCost &cost =
      std::holds_alternative<const PreconditionerOperator *>(m_view) ? costs.general : costs.fused;
  SolveReport report = report_of_method(A, M, solver, cost, x.bytes());

  Iteration<Backend, State, SumsWithResidual<Sums>> iteration(*A.range());
  iteration.set_execution(execution_for(control));
  Buffer<double> initial_x(A.executor(), x.size());
  const ExactProduct exact(A);
  // Submits all work to the device before waiting for a result.
  const auto run_from_x = [&](const KrylovState &start) -> KrylovState {
    State state;
    static_cast<KrylovState &>(state) = start;
    iteration.set_state(state);
    LoopWithTrueResidual loop(
        iteration,
        product(exact, x.data(),
                ComputeInitialResidual<State, Sums>{{b.data(), r}, x.data(), initial_x.data()}),
        product(exact, x.data(), ComputeFinalResidual<Sums>{{b.data(), r}}));
    std::visit([&](const auto &m) { iterate(loop, m, initial_x.data()); }, m_view);
    return iteration.get_state();
  };
  report = solve_to_true_residual<State>(
      iteration, A, control, std::move(report),
      [&](const KrylovState &start) { return run_from(x, start, run_from_x); },
      [&] { x.copy_from(initial_x); });
  report.method.norm = name_of_norm(control);
  report.method.execution = iteration.execution();
  describe(report);
  return report;
}

/// Returns a Watch (steps/steps.h) that reports the progress of a loop to control.progress; an
/// empty one if control.progress is empty.
template <class State>
Watch<State> watch_for(const SolveControl &control)
{
  if (!control.progress)
    return {};
  return [&control](const State &s) { control.progress(s.iteration, std::sqrt(s.rr)); };
}
} // namespace femgpu::linalg

#endif
