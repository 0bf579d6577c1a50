#ifndef femgpu_linalg_solvers_preconditioned_solver_h
#define femgpu_linalg_solvers_preconditioned_solver_h

#include "linalg/preconditioners/preconditioner.h"
#include "linalg/solvers/jacobi_forecast.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/solver.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/**
 * A solver with its preconditioner, for one matrix after the other.
 *
 * The preconditioner `auto` is multigrid from the beginning where Jacobi is forecast to take longer
 * or materials differ much (JacobiForecast). Else it is Jacobi until solves with matrices of one
 * pattern have lost as many iterations as the next preconditioner costs, and that one for the rest
 * of that solve and for all others. A solve loses the iterations beyond those that an update of the
 * next one costs. Iterations decide, not seconds, so that it is repeatable.
 *
 * The next one is fsai where the forecast says so, then multigrid. Multigrid goes on as long as it
 * halves the residual within 500, 1,000, 2,000, ... iterations, fsai within four times as many. If
 * it does not, for another reason than rounding, or cannot be set up, the one behind it is taken.
 * Behind multigrid that is Jacobi, which goes on permanently.
 */
class PreconditionedSolver
{
public:
  /// @throws ParameterError for unknown names and wrong options
  PreconditionedSolver(const LinearSolverOptions &options, BackendKind backend);

  /// Makes the preconditioner of @p A, which must stay, and what the solver makes of both; with
  /// @p only_values for new values of the same pattern, unless the last set-up failed. @throws as
  /// Preconditioner::setup() and Solver::set_up()
  void set_up(const Matrix &A, bool only_values);

  /// Solves A x = b with that preconditioner, for an A like that of set_up(). @throws as Solver
  SolveReport solve(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                    const SolveControl &control);

private:
  enum class Choice
  {
    given,     ///< and does not change
    jacobi,    ///< until it has taken too long
    fsai,      ///< unless it does not converge
    multigrid, ///< unless it does not converge
  };

  SolveReport attempt(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                      const SolveControl &control);
  static bool is_at_rounding(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                             Outcome outcome);
  void set_up_on_all_parts(Preconditioner &M, bool updates_M, bool only_values);
  int first_patience() const;
  bool is_on_trial() const;
  void take(Choice next, const std::string &reason, bool only_values);
  void take_next(const std::string &reason, bool only_values);

  BackendKind backend;
  std::unique_ptr<Solver> solver;
  Choice choice;
  std::unique_ptr<Preconditioner> preconditioner;
  JacobiForecast forecast;      ///< where Jacobi or multigrid may be chosen
  int patience_with_jacobi = 0; ///< iterations that its solves may still lose
  int patience_on_trial = 0;    ///< iterations of the next attempt with fsai or multigrid
  std::string remark;           ///< why the preconditioner is this one; empty: it is the given one
  const Matrix *matrix = nullptr; ///< of set_up()
  bool is_complete = false;       ///< preconditioner and solver are set up
};
} // namespace femgpu::linalg

#endif
