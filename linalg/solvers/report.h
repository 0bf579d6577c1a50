#ifndef femgpu_linalg_solvers_report_h
#define femgpu_linalg_solvers_report_h

#include "linalg/operators/row_space.h"
#include "linalg/preconditioners/setup_report.h"
#include "linalg/steps/execution.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// How a solve ended. The first two are successes: the true residual has reached its target, or
/// rounding keeps it above the target and the solution has all attainable digits (rounding.h).
enum class Outcome : int
{
  converged,
  converged_to_rounding,
  iteration_limit,
  stagnated,
  diverged,
  not_finite,
  indefinite_matrix,
  indefinite_preconditioner,
  breakdown,
  not_balanced ///< the system is solved, but inflow and outflow of the body do not balance
};

/// Returns the name of @p outcome in the machine-readable report, such as "iteration_limit".
std::string to_string(Outcome outcome);

inline bool is_success(const Outcome outcome)
{
  return outcome == Outcome::converged || outcome == Outcome::converged_to_rounding;
}

/// Stopping criteria of a solve, and a callback for its progress. Norms are Euclidean.
struct SolveControl
{
  /// The reference of the relative tolerance.
  enum class Reference
  {
    rhs,
    initial_residual
  };

  double relative_tolerance = 1e-10;
  double absolute_tolerance = 0.;
  Reference reference = Reference::rhs;
  /// Tolerance for the energy norm of the error, ‖x − x_k‖_A, if conjugate gradients are to stop at
  /// this error instead of the residual: relative to ‖x‖_A, or absolute, whichever is larger.
  struct EnergyTolerance
  {
    double relative = 0., absolute = 0.;

    bool is_set() const
    {
      return relative > 0. || absolute > 0.;
    }
  };
  EnergyTolerance energy_tolerance;
  int max_iterations = 20000;
  Execution execution = Execution::automatic;

  /// Called about twice a second with the iteration and the residual of the recurrence.
  std::function<void(int, double)> progress;
};

/**
 * @file
 * Reports are nested structs. Each lists its members in
 *
 *     template <class F, class... Self>
 *     static void for_each_member(const F &f, Self &...reports)
 *
 * which calls f("name", reports.name...) for each member; JSON output, archives and sums use it.
 * docs/summary.md documents the names. Negative numbers mean that a value is unknown.
 */

/// Transfers between host memory and the memory of an executor; on the host backend, copies.
struct Transfer
{
  std::size_t bytes = 0;
  double seconds = 0.;            ///< including scaling and reordering on the host
  double overlapped_seconds = 0.; ///< part of `seconds` that overlapped with assembly

  double waited_seconds() const
  {
    return seconds - overlapped_seconds;
  }
  /// Returns the bandwidth; 0 if no time was spent.
  double gigabytes_per_second() const
  {
    return seconds > 0. ? 1e-9 * static_cast<double>(bytes) / seconds : 0.;
  }

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...transfers)
  {
    f("bytes", transfers.bytes...);
    f("seconds", transfers.seconds...);
    f("overlapped_seconds", transfers.overlapped_seconds...);
  }
};

/// The cost of solving a system. Seconds are wall time.
struct SolveCosts
{
  double format_seconds = 0.;          ///< conversion from CSR to the matrix format
  double setup_seconds = 0.;           ///< set-up of methods, such as the preconditioner
  std::size_t setup_bytes_to_host = 0; ///< copied from the executor's memory during set-up
  double solve_seconds = 0.;
  Transfer transfer;
  Communication communication; ///< communication of distributed solves

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...costs)
  {
    f("format_seconds", costs.format_seconds...);
    f("setup_seconds", costs.setup_seconds...);
    f("setup_bytes_to_host", costs.setup_bytes_to_host...);
    f("solve_seconds", costs.solve_seconds...);
    Transfer::for_each_member(f, costs.transfer...);
    Communication::for_each_member(f, costs.communication...);
  }

  SolveCosts &operator+=(const SolveCosts &other)
  {
    for_each_member([](const char *, auto &sum, const auto &more) { sum += more; }, *this, other);
    return *this;
  }
};

/// Error estimates of conjugate gradients in the energy norm, ‖e‖_A = (e, A e)^(1/2): lower bounds,
/// see EnergyError.
struct EnergyReport
{
  double error = -1.; ///< error of the iterate `delay` iterations before the last one
  int delay = 0;
  double norm = -1.;   ///< ‖x‖_A
  double target = -1.; ///< the error had to reach this; negative: the residual decided

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...energies)
  {
    f("energy_error", energies.error...);
    f("energy_delay", energies.delay...);
    f("energy_norm", energies.norm...);
    f("energy_target", energies.target...);
  }
};

/// How a solve ended. Norms are Euclidean.
struct SolveResult
{
  Outcome outcome = Outcome::breakdown;
  std::string message; ///< a sentence with the numbers and, after a failure, the usual remedy

  int iterations = 0;
  int restarts = 0;     ///< restarts after breakdowns, after drifts from the true residual, and to
                        ///< refine the solution if A is stored in float
  double rhs_norm = 0.; ///< ‖b‖
  double initial_residual = 0.; ///< ‖b − A x₀‖
  double true_residual = 0.;    ///< ‖b − A x‖, recomputed at the end
  double target = 0.;           ///< what the true residual had to reach
  double backward_error = -1.;  ///< see SystemNorms; for nonlinear systems only after stagnation
  double componentwise_backward_error = -1.; ///< see SystemNorms; only for single linear systems
  double forward_error = -1.; ///< ‖x − A⁻¹b‖/‖x‖, estimated if rounding ends a solve
  EnergyReport energy;

  bool converged() const
  {
    return is_success(outcome);
  }

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...results)
  {
    f("outcome", results.outcome...);
    f("message", results.message...);
    f("iterations", results.iterations...);
    f("restarts", results.restarts...);
    f("rhs_norm", results.rhs_norm...);
    f("initial_residual", results.initial_residual...);
    f("true_residual", results.true_residual...);
    f("target", results.target...);
    f("backward_error", results.backward_error...);
    f("componentwise_backward_error", results.componentwise_backward_error...);
    f("forward_error", results.forward_error...);
    EnergyReport::for_each_member(f, results.energy...);
  }
};

/// The methods that solved a system.
struct MethodReport
{
  std::string solver, preconditioner, format;
  std::string scaling = "none", ordering = "none";
  std::string backend;
  std::string communicator = "none"; ///< kind of communication between ranks
  std::string
      execution; ///< how the loop of a linear solver ran: "graph", "resident: one block, ..."
  std::string norm; ///< which residual, and relative to what, e.g. "‖b − A x‖ relative to ‖b‖"
  std::string solver_remarks; ///< remarks of methods that monitor the quality of their basis, and
                              ///< of the direct solver on a GPU
  std::string failed_attempt; ///< the message of the solver that the direct solver replaced

  bool is_reproducible = true; ///< whether repeated solves give the same bits

  std::size_t matrix_stored = 0;        ///< entries of the matrix format, with padding
  std::size_t matrix_bytes = 0;         ///< bytes of the matrix that a product reads
  SetupReport setup;                    ///< set-up of the preconditioner
  std::size_t preconditioner_bytes = 0; ///< bytes that an application of the preconditioner reads
  std::size_t bytes_per_iteration =
      0; ///< bytes that the steps read and write; resident loops move fewer

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...methods)
  {
    f("solver", methods.solver...);
    f("preconditioner", methods.preconditioner...);
    f("format", methods.format...);
    f("scaling", methods.scaling...);
    f("ordering", methods.ordering...);
    f("backend", methods.backend...);
    f("communicator", methods.communicator...);
    f("execution", methods.execution...);
    f("norm", methods.norm...);
    f("solver_remarks", methods.solver_remarks...);
    f("failed_attempt", methods.failed_attempt...);
    f("reproducible", methods.is_reproducible...);
    f("matrix_stored", methods.matrix_stored...);
    f("matrix_bytes", methods.matrix_bytes...);
    SetupReport::for_each_member(f, methods.setup...);
    f("preconditioner_bytes", methods.preconditioner_bytes...);
    f("bytes_per_iteration", methods.bytes_per_iteration...);
  }
};

/// Norms of the system before scaling.
struct OriginalNorms
{
  double rhs = 0.;      ///< ‖b‖
  double residual = 0.; ///< ‖b − A x‖

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...norms)
  {
    f("given_rhs_norm", norms.rhs...);
    f("given_residual", norms.residual...);
  }
};

/// Work within the iterations of a nonlinear solve.
struct InnerWork
{
  int linear_iterations = 0; ///< iterations of all linear solves
  int line_search_steps = 0; ///< trial steps of all line searches

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...work)
  {
    f("linear_iterations", work.linear_iterations...);
    f("line_search_steps", work.line_search_steps...);
  }
};

/// The complete report of a solve.
struct SolveReport : SolveResult
{
  MethodReport method;
  OriginalNorms original;
  InnerWork inner;
  SolveCosts costs;

  /// Residual norms of the recurrence: the initial one and one per iteration, without iterations
  /// that only served to estimate an error.
  std::vector<double> history;

  /// Calls f("name", reports.name...) for all members except the history.
  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...reports)
  {
    SolveResult::for_each_member(f, reports...);
    MethodReport::for_each_member(f, reports.method...);
    OriginalNorms::for_each_member(f, reports.original...);
    InnerWork::for_each_member(f, reports.inner...);
    SolveCosts::for_each_member(f, reports.costs...);
  }

  /// Serialises all members except the history, for archives in the style of Boost.
  template <class Archive>
  void serialize(Archive &archive, const unsigned int /* version */)
  {
    for_each_member([&](const char *, auto &member) { archive &member; }, *this);
  }
};

/// Adds the iterations and costs of @p step to @p report, and counts a restart. @p step must be a
/// continuation of the solve that @p report describes.
void add_work(const SolveReport &step, SolveReport &report);

/// Appends the report @p rest of the remaining solve to @p report, which then describes the whole
/// solve.
void append_solve(SolveReport &report, SolveReport rest);

/// Sets result.message from the other members.
/// @param residual name of the residual norm
void describe(SolveResult &result, const MethodReport &method,
              const std::string &residual = "‖b−Ax‖");

inline void describe(SolveReport &report, const std::string &residual = "‖b−Ax‖")
{
  describe(report, report.method, residual);
}
} // namespace femgpu::linalg

#endif
