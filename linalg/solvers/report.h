#ifndef femgpu_linalg_solvers_report_h
#define femgpu_linalg_solvers_report_h

#include "linalg/execution/steps/execution.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// How a solve ended. The first two are successes: the true residual has reached its target, or
/// rounding keeps it above that and the solution has all the digits there are (rounding.h).
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
  breakdown
};

/// "converged", "iteration_limit", ...: as in the machine-readable report.
std::string to_string(Outcome outcome);

inline bool is_success(const Outcome outcome)
{
  return outcome == Outcome::converged || outcome == Outcome::converged_to_rounding;
}

/// When a solve ends, and who is told on the way. Norms are Euclidean.
struct SolveControl
{
  /// What the relative tolerance is relative to.
  enum class Reference
  {
    rhs,
    initial_residual
  };

  double relative_tolerance = 1e-10;
  double absolute_tolerance = 0.;
  Reference reference = Reference::rhs;
  int max_iterations = 20000;
  Execution execution = Execution::automatic;

  /// Is called about twice a second with the iteration and the residual of the recurrence.
  std::function<void(int, double)> progress;
};

/// What went between host memory and that of an executor; on the host it is copied there.
struct Transfer
{
  std::size_t bytes = 0;
  double seconds = 0.; ///< that it was waited for, with scaling and reordering on the host
  double overlapped_seconds = 0.; ///< besides, while values were still being assembled

  /// Of both kinds of seconds; 0 if there were none.
  double gigabytes_per_second() const;

  template <class Archive>
  void serialize(Archive &archive, const unsigned int /* version */)
  {
    archive &bytes &seconds &overlapped_seconds;
  }
};

/// What was spent on a system besides solving it.
struct SystemCosts
{
  double format_seconds = 0.; ///< making the matrix format from CSR
  double setup_seconds = 0.;  ///< of methods, as the preconditioner
  Transfer transfer;

  SystemCosts &operator+=(const SystemCosts &other);
};

/// What a solve did. Seconds are wall time, norms Euclidean.
struct SolveReport : SystemCosts
{
  Outcome outcome = Outcome::breakdown;
  std::string message; ///< a sentence with the numbers and, after a failure, the usual cure

  int iterations = 0;
  int restarts = 0; ///< after drifts from the true residual and breakdowns; to refine float values
  int linear_iterations = 0;    ///< of all linear solves of a nonlinear one
  int line_search_steps = 0;    ///< trial steps of a nonlinear solve
  double rhs_norm = 0.;         ///< ‖b‖
  double initial_residual = 0.; ///< ‖b − A x₀‖
  double true_residual = 0.;    ///< ‖b − A x‖, recomputed at the end
  double target = 0.;           ///< what the true residual had to reach
  double backward_error = -1.;  ///< of a linear system, see SystemNorms; negative: not known
  double forward_error = -1.; ///< ‖x − A⁻¹b‖/‖x‖, estimated where rounding ends a solve

  double solve_seconds = 0.;
  std::size_t bytes_per_iteration =
      0; ///< that the steps read and write, counted; resident loops move less

  std::string solver, preconditioner, format, backend;
  std::string
      execution; ///< how the loop of a linear solver ran: "graph", "resident: one block, ..."
  std::string norm; ///< of which residual, and relative to what, as "‖b − A x‖ relative to ‖b‖"

  std::size_t matrix_stored = 0;           ///< entries of the matrix format, with padding
  std::size_t matrix_bytes = 0;            ///< that a product reads of it
  std::size_t preconditioner_nonzeros = 0; ///< of M⁻¹, or of G where M⁻¹ = Gᵀ G
  std::size_t preconditioner_bytes = 0;    ///< that an application reads of it
  std::string preconditioner_remarks;      ///< what its setup dropped or regularised

  std::string solver_remarks; ///< what the method has seen of its basis, where it looks at that
  std::string failed_attempt; ///< the message of the solver whose place the direct one has taken

  std::string scaling = "none", ordering = "none";
  double given_residual = 0.; ///< ‖b − A x‖ before scaling, where the system was scaled
  double given_rhs_norm = 0.; ///< ‖b‖ before scaling

  /// Residual norms of the recurrence, the first and one an iteration, but for corrections by which
  /// an error was estimated.
  std::vector<double> history;

  bool converged() const
  {
    return is_success(outcome);
  }

  /// All but the history, for an archive of Boost's kind.
  template <class Archive>
  void serialize(Archive &archive, const unsigned int /* version */)
  {
    archive &outcome &message &iterations &restarts &linear_iterations &line_search_steps &rhs_norm
        &initial_residual &true_residual &target &backward_error &forward_error &format_seconds
            &setup_seconds &transfer &solve_seconds &bytes_per_iteration &solver &preconditioner
                &format &backend &execution &norm &matrix_stored &matrix_bytes
                    &preconditioner_nonzeros &preconditioner_bytes &preconditioner_remarks
                        &solver_remarks &failed_attempt &scaling &ordering &given_residual
                            &given_rhs_norm;
  }
};

/// Fills report.message from the other members. @param residual the name of the residual's norm
void describe(SolveReport &report, const std::string &residual = "‖b−Ax‖");
} // namespace femgpu::linalg

#endif
