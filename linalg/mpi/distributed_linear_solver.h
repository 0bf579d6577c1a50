#ifndef femgpu_linalg_mpi_distributed_linear_solver_h
#define femgpu_linalg_mpi_distributed_linear_solver_h

#include "linalg/linear_solver.h"
#include "linalg/mpi/distribution.h"

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace femgpu::linalg
{
/**
 * Solves linear systems of which each rank has contiguous rows, as finite element libraries
 * assemble them. It recognises matrices with the pattern of the previous matrix and then transfers
 * only their values. All functions are collective.
 */
class DistributedLinearSolver
{
public:
  /// @param ranks the ranks that have rows; MPI_COMM_NULL: this process has all rows, and MPI need
  /// not be initialised
  /// @param backend see make_rank_executor()
  /// @throws ParameterError if @p backend is unknown, or as LinearSolver
  /// @throws DeviceError if the backend is unavailable
  DistributedLinearSolver(MPI_Comm ranks, const std::string &backend, LinearSolverOptions options);
  ~DistributedLinearSolver();
  DistributedLinearSolver(const DistributedLinearSolver &) = delete;
  DistributedLinearSolver &operator=(const DistributedLinearSolver &) = delete;

  /**
   * Sets the rows of this rank, which follow the rows of lower ranks. Columns have global numbers
   * in ascending order. If no rank has a new pattern, only values are transferred and the
   * preconditioner is updated; the Unknowns of the previous rows remain valid. If the values have
   * not changed either, this function does nothing.
   * @throws ParameterError, SolverError, DeviceError as LinearSolver::set_matrix()
   */
  void set_rows(HostMatrix rows);

  /// Solves A x = b; both vectors contain the values of this rank's rows, and x contains the
  /// initial guess. See LinearSolver::solve().
  SolveReport solve(const double *b, double *x)
  {
    return solver->solve(b, x);
  }

  /// Computes z = M⁻¹ r for the preconditioner; see LinearSolver::precondition().
  void precondition(const double *r, double *z)
  {
    solver->precondition(r, z);
  }

  /// The number of rows on this rank.
  int n() const
  {
    return solver->n();
  }
  SolveControl &control()
  {
    return solver->control();
  }
  const Executor &executor() const
  {
    return solver->executor();
  }
  /// The number of times that a new pattern was set.
  int n_patterns() const
  {
    return patterns;
  }

private:
  bool is_true_on_any_rank(bool condition) const;
  bool set_values(const HostMatrix &rows);

  MPI_Comm ranks = MPI_COMM_NULL; ///< a duplicate of the caller's communicator, if it has several
                                  ///< ranks
  std::optional<Distribution> distribution; ///< the rows if there are several ranks
  HostMatrix all_rows;                      ///< the rows if there is one rank
  bool has_matrix = false;
  std::uint64_t pattern_hash = 0;
  int patterns = 0;
  std::unique_ptr<LinearSolver> solver; // refers to the rows
};
} // namespace femgpu::linalg

#endif
