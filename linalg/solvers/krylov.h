#ifndef femgpu_linalg_solvers_krylov_h
#define femgpu_linalg_solvers_krylov_h

#include "linalg/base/error.h"
#include "linalg/execution/this_backend.h"
#include "linalg/execution/vector_steps.h"
#include "linalg/matrices/csr_matrix.h"
#include "linalg/solvers/solver.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

/**
 * @file
 * What Krylov solvers share: the state that their epilogues check, and the outer loop that lets
 * only the true residual decide.
 */
namespace femgpu::linalg
{
/// The part of a Krylov solver's state that stopping needs; lives where the steps run.
struct KrylovState : LoopState
{
  int iteration = 0; ///< number of updates of x
  int max_iterations = 0;
  double rr = 0.;          ///< (r, r) of the recurrence
  double target_rr = 0.;   ///< converged at or below
  double diverged_rr = 0.; ///< diverged above
  /// The residual grew by this factor: nothing good will come.
  static constexpr double divergence_factor = 1e8;
  Outcome outcome = Outcome::breakdown;
  int history_size = 0;
  double *history = nullptr; ///< norms of the first iterations

  FEMGPU_HD
  void stop(const Outcome o)
  {
    outcome = o;
    running = false;
  }

  /// Looks at the residual @p new_rr = (r, r) after `iteration` updates of x; stops or goes on.
  FEMGPU_HD
  void check(const double new_rr)
  {
    if (!ends_at(new_rr) && iteration >= max_iterations)
      stop(Outcome::iteration_limit);
  }

  /// The same; @p rMr = (r, M⁻¹r) and @p pAp = (p, A p) of the next direction must be positive.
  FEMGPU_HD
  void check_spd(const double new_rr, const double rMr, const double pAp)
  {
    if (ends_at(new_rr))
      return;
    if (!is_finite(rMr) || !is_finite(pAp))
      stop(Outcome::not_finite);
    else if (rMr <= 0.)
      stop(Outcome::indefinite_preconditioner);
    else if (pAp <= 0.)
      stop(Outcome::indefinite_matrix);
    else if (iteration >= max_iterations)
      stop(Outcome::iteration_limit);
  }

  FEMGPU_HD
  static bool is_finite(const double value)
  {
    return value - value == 0.;
  }

private:
  FEMGPU_HD
  bool ends_at(const double new_rr)
  {
    rr = new_rr;
    if (iteration < history_size)
      history[iteration] = sqrt(new_rr);
    if (new_rr <= target_rr)
      stop(Outcome::converged);
    else if (!is_finite(new_rr))
      stop(Outcome::not_finite);
    else if (new_rr > diverged_rr)
      stop(Outcome::diverged);
    return !running;
  }
};

struct ResidualState : LoopState
{
  double rr = 0., bb = 0.;
};

struct ResidualSums
{
  double rr, bb;
};

/// r = b − A x, with (r, r) and (b, b).
struct TrueResidual
{
  const double *b;
  double *r;

  using Contributes = SumList<&ResidualSums::rr, &ResidualSums::bb>;
  FEMGPU_HD
  void operator()(const ResidualState & /* s */, const int i, const double Ax_i,
                  ResidualSums &sums) const
  {
    const double r_i = b[i] - Ax_i;
    r[i] = r_i;
    sums.rr += r_i * r_i;
    sums.bb += b[i] * b[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(ResidualState &s, const ResidualSums &sums) const
  {
    s.rr = sums.rr;
    s.bb = sums.bb;
  }
};

/// Computes r = b − A x, with the values of A as they came, and returns (r, r) and (b, b).
template <class Backend>
ResidualState true_residual(const Matrix &A, const Buffer<double> &b, const Buffer<double> &x,
                            Buffer<double> &r)
{
  Iteration<Backend, ResidualState, ResidualSums> iteration(*A.executor(), A.n());
  iteration.set_state({});
  iteration.once(product(A.csr(), x.data(), TrueResidual{b.data(), r.data()}));
  return iteration.get_state();
}

/// Below this the products of an iteration lose their bits; the true residual has long stood still.
constexpr double smallest_rr = 1e-280;

/// So many breakdowns one after the other that leave the residual as it is end the solve.
constexpr int most_breakdowns_without_progress = 5;

/// Iterations whose residuals are kept.
constexpr int longest_history = 1 << 20;

/**
 * The outer loop of every Krylov solver, and of nonlinear conjugate gradients. @p run(state, r)
 * iterates from x with the residual in r until an epilogue has stopped @p state. Whatever the
 * recurrence says, the residual is recomputed; if it misses a target that the recurrence has met,
 * the method is started again from x, until that no longer halves the residual: then it has
 * stagnated. It is started again after a breakdown too, unless it breaks down at once or again and
 * again without progress.
 * @param residual computes r from x; returns (r, r), and (b, b) of what the tolerance is relative
 * to
 * @param divergence_factor growth of the residual after which nothing good will come
 * @param report has the names and counts of the method already
 */
template <class Residual, class Run>
SolveReport solve_to_true_residual(const Matrix &A, const SolveControl &control,
                                   const double divergence_factor, SolveReport report,
                                   const Residual &compute_residual, const Run &run)
{
  const auto begin = std::chrono::steady_clock::now();
  Buffer<double> r(A.executor(), static_cast<std::size_t>(A.n()));
  const int history_size = std::min(control.max_iterations, longest_history - 1) + 1;
  Buffer<double> history(A.executor(), static_cast<std::size_t>(history_size));

  ResidualState residual = compute_residual(r);
  report.rhs_norm = std::sqrt(residual.bb);
  report.initial_residual = std::sqrt(residual.rr);
  const bool of_rhs = control.reference == SolveControl::Reference::rhs;
  report.target =
      std::max(control.absolute_tolerance,
               control.relative_tolerance * (of_rhs ? report.rhs_norm : report.initial_residual));

  KrylovState state;
  state.history = history.data();
  state.history_size = history_size;
  state.max_iterations = control.max_iterations;
  state.diverged_rr = std::max(residual.rr, residual.bb) * divergence_factor * divergence_factor;
  double least_rr = residual.rr;
  int breakdowns_without_progress = 0;
  for (double previous = residual.rr;; previous = residual.rr) {
    // First of all: an infinite b would make the target infinite too.
    if (!KrylovState::is_finite(residual.rr) || !KrylovState::is_finite(residual.bb)) {
      report.outcome = Outcome::not_finite;
      break;
    }
    if (std::sqrt(residual.rr) <= report.target) {
      report.outcome = Outcome::converged;
      break;
    }
    if (state.iteration > 0)
      ++report.restarts;
    // With rounded values a recurrence knows no more of A than some digits: each start refines the
    // solution by these.
    const bool is_rounded = A.value_precision() > std::numeric_limits<double>::epsilon();
    const double reachable = is_rounded ? 100. * A.value_precision() * std::sqrt(residual.rr) : 0.;
    const double target = std::max(report.target, reachable);
    state.target_rr = std::max(target * target, smallest_rr);
    state.rr = residual.rr;
    state.running = true;
    const int iterations_before = state.iteration;
    state = run(state, r);
    report.outcome = state.outcome;
    residual = compute_residual(r);
    if (state.outcome == Outcome::breakdown && state.iteration > iterations_before) {
      breakdowns_without_progress =
          residual.rr < 0.99 * least_rr ? 0 : breakdowns_without_progress + 1;
      least_rr = std::min(least_rr, residual.rr);
      if (breakdowns_without_progress < most_breakdowns_without_progress)
        continue;
      break;
    }
    if (state.outcome != Outcome::converged && std::sqrt(residual.rr) > report.target)
      break;
    if (std::sqrt(residual.rr) > report.target && residual.rr > 0.25 * previous) {
      report.outcome = Outcome::stagnated;
      break;
    }
  }
  report.iterations = state.iteration;
  report.true_residual = std::sqrt(residual.rr);
  report.history =
      history.to_host(static_cast<std::size_t>(std::min(state.iteration + 1, history_size)));
  report.history.front() = report.initial_residual; // also where nothing had to be done
  report.solve_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

/// Is the action of M⁻¹ fused into the steps of the solver? (Else a solver gets an Operator.)
template <class MView>
constexpr bool is_fused = !std::is_same_v<std::decay_t<MView>, const Operator *>;

/// How often an iteration reads or writes A, a vector, and M⁻¹.
struct IterationCost
{
  std::size_t products, vectors, applications;
};

/// Costs of a method with a fused preconditioner, and with any other.
struct IterationCosts
{
  IterationCost fused, general;
};

/// A report with the names and sizes of a method. @param vector_bytes of a vector
inline SolveReport report_of_method(const Matrix &A, const Preconditioner &M,
                                    const std::string &solver, const IterationCost &cost,
                                    const std::size_t vector_bytes)
{
  SolveReport report;
  report.solver = solver;
  report.preconditioner = M.name();
  report.format = A.format();
  report.backend = A.executor()->name();
  report.matrix_stored = A.n_stored();
  report.matrix_bytes = A.bytes();
  const SetupReport setup = M.setup_report();
  report.preconditioner_nonzeros = setup.n_nonzeros;
  report.preconditioner_bytes = M.bytes();
  report.preconditioner_remarks = setup.remarks;
  report.bytes_per_iteration =
      cost.products * A.bytes() + cost.vectors * vector_bytes + cost.applications * M.bytes();
  return report;
}

/**
 * Solves A x = b with fused steps: @p iterate(iteration, m, r) gets the view of M⁻¹ and runs the
 * steps of the method, from the residual r on, with a new @p State, until an epilogue stops it.
 */
template <class Backend, class State, class Sums, class Iterate>
SolveReport solve_with_steps(const std::string &solver, const Matrix &A, const Preconditioner &M,
                             const Buffer<double> &b, Buffer<double> &x,
                             const SolveControl &control, const IterationCosts &costs,
                             const Iterate &iterate)
{
  const auto m_view = M.action();
  const IterationCost &cost =
      std::holds_alternative<const Operator *>(m_view) ? costs.general : costs.fused;
  SolveReport report = report_of_method(A, M, solver, cost, x.bytes());

  Iteration<Backend, State, Sums> iteration(*A.executor(), A.n());
  iteration.choose(control.execution);
  const auto run = [&](const KrylovState &start, Buffer<double> &r) -> KrylovState {
    State state;
    static_cast<KrylovState &>(state) = start;
    iteration.set_state(state);
    std::visit([&](const auto &m) { iterate(iteration, m, r); }, m_view);
    return iteration.get_state();
  };
  const auto residual = [&](Buffer<double> &r) {
    const ResidualState s = true_residual<Backend>(A, b, x, r);
    if (s.bb > 0. || !KrylovState::is_finite(s.bb))
      return s;
    x.fill_zero(); // the solution for b = 0
    return true_residual<Backend>(A, b, x, r);
  };
  report = solve_to_true_residual(A, control, State::divergence_factor, std::move(report), residual,
                                  run);
  report.norm = control.reference == SolveControl::Reference::rhs
                    ? "‖b − A x‖ relative to ‖b‖"
                    : "‖b − A x‖ relative to ‖b − A x₀‖";
  report.execution = iteration.execution();
  describe(report);
  return report;
}

/// Sets vectors to zero before the first pass of a loop that begins with an update.
inline void fill_zero(const std::initializer_list<Buffer<double> *> vectors)
{
  for (Buffer<double> *const v : vectors)
    v->fill_zero();
}

/// The watch of a loop that tells @p control about its progress.
template <class State>
Watch<State> watch_for(const SolveControl &control)
{
  if (!control.progress)
    return {};
  return [&control](const State &s) { control.progress(s.iteration, std::sqrt(s.rr)); };
}
} // namespace femgpu::linalg

#endif
