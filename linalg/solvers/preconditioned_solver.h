#ifndef femgpu_linalg_solvers_preconditioned_solver_h
#define femgpu_linalg_solvers_preconditioned_solver_h

#include "linalg/operators/multi_vector.h"
#include "linalg/preconditioners/preconditioner.h"
#include "linalg/solvers/jacobi_forecast.h"
#include "linalg/solvers/linear_solver_options.h"
#include "linalg/solvers/solver.h"

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * A solver with its preconditioner, for a sequence of matrices.
 *
 * The preconditioner `auto` is multigrid from the beginning if Jacobi is forecast to take longer or
 * if materials differ strongly (JacobiForecast). Otherwise `auto` starts with Jacobi. In each solve
 * with Jacobi, the iterations beyond the cost of updating the next preconditioner (see below) count
 * as lost. As soon as solves with matrices of one pattern have together lost as many iterations as
 * the next preconditioner costs, the next preconditioner replaces Jacobi, for the rest of the solve
 * and for all later solves. Iterations decide, not seconds, so that the choice is repeatable.
 *
 * The next preconditioner is multigrid, preceded by fsai if the forecast recommends it. Multigrid
 * continues as long as it halves the residual within its iteration limit of 500, 1,000, 2,000, ...
 * iterations; fsai has four times these limits. If a preconditioner fails to do so, for another
 * reason than rounding, or cannot be set up, its successor replaces it. Multigrid is succeeded by
 * Jacobi, permanently.
 */
class PreconditionedSolver
{
public:
  /// @throws ParameterError for unknown names and wrong options
  PreconditionedSolver(const LinearSolverOptions &options, BackendKind backend);

  /// Replaces the preconditioner that the options name, before set_up().
  void set_preconditioner(std::unique_ptr<Preconditioner> M);

  /// The preconditioner that is in use; valid after set_up().
  const Preconditioner &current_preconditioner() const
  {
    return *preconditioner;
  }

  /// Sets up the preconditioner for @p A, and the solver for A and the preconditioner. A must
  /// outlive later calls of solve().
  /// @param only_values A has the pattern of the last set-up; ignored if that set-up failed
  /// @throws the exceptions of Preconditioner::setup() and Solver::set_up()
  void set_up(const Matrix &A, bool only_values);

  /// Solves A x = b with the preconditioner of set_up(). @p A is the matrix of set_up(), or one
  /// close to it.
  /// @throws the exceptions of Solver::solve()
  SolveReport solve(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                    const SolveControl &control);

  /// Returns whether the solver can solve several right-hand sides together.
  bool has_block_form() const
  {
    return solver->block() != nullptr;
  }
  /// Solves A X = B as BlockMethod::solve() does, with the preconditioner of set_up(). With the
  /// preconditioner `auto`, the limit for Jacobi applies to each column; solve() continues columns
  /// with another preconditioner.
  std::vector<SolveReport> solve_block(const Matrix &A, const MultiVector<double> &B,
                                       MultiVector<double> &X, const SolveControl &control) const;

private:
  enum class Choice
  {
    fixed,     ///< never changes
    jacobi,    ///< replaced if it takes too long
    fsai,      ///< replaced if it does not converge
    multigrid, ///< replaced if it does not converge
  };

  SolveReport attempt(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                      const SolveControl &control);
  static bool is_at_rounding(const Matrix &A, const Buffer<double> &b, Buffer<double> &x,
                             Outcome outcome);
  void set_up_on_all_ranks(Preconditioner &M, bool updates_M, bool only_values);
  int first_trial_limit() const;
  bool is_on_trial() const;
  void switch_to(Choice next, const std::string &reason, bool only_values);
  void switch_to_next(const std::string &reason, bool only_values);

  BackendKind backend;
  std::unique_ptr<Solver> solver;
  Choice choice;
  std::unique_ptr<Preconditioner> preconditioner;
  JacobiForecast forecast;             ///< used only for the preconditioner `auto`
  int remaining_jacobi_iterations = 0; ///< iterations that solves may lose until Jacobi is replaced
  int trial_iteration_limit = 0; ///< iteration limit of the next attempt with fsai or multigrid
  std::string remark;            ///< why this preconditioner was chosen; empty: the options name it
  const Matrix *matrix = nullptr; ///< the matrix of set_up()
  bool is_complete = false;       ///< preconditioner and solver are set up
};
} // namespace femgpu::linalg

#endif
