#ifndef femgpu_linalg_solvers_preconditioned_solver_h
#define femgpu_linalg_solvers_preconditioned_solver_h

#include "linalg/preconditioners/preconditioner.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/solver.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
/**
 * A solver with its preconditioner, for one matrix after the other.
 *
 * The preconditioner `auto` is Jacobi until a solve has taken as many iterations as the set-up of
 * multigrid costs, and multigrid for the rest of that solve and for all others. So a solve takes
 * about twice the time of the better of the two at most, without a guess of what is hard;
 * iterations decide, not seconds, so that it is repeatable. If multigrid cannot be set up, or
 * does not converge within as many iterations for another reason than rounding, Jacobi goes on
 * permanently.
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
    multigrid, ///< unless it does not converge
  };

  SolveReport attempt(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                      const SolveControl &control);
  static bool is_at_rounding(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                             Outcome outcome);
  void set_up_on_all_parts(Preconditioner &M, bool updates_M, bool only_values);
  void take_multigrid();
  void take_jacobi(const std::string &reason, bool only_values);

  BackendKind backend;
  std::unique_ptr<Solver> solver;
  Choice choice;
  std::unique_ptr<Preconditioner> preconditioner;
  std::string remark; ///< why the preconditioner is this one; empty: it is the given one
  const Matrix *matrix = nullptr; ///< of set_up()
  bool is_complete = false;       ///< preconditioner and solver are set up
};
} // namespace femgpu::linalg

#endif
