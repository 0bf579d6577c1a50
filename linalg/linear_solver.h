#ifndef femgpu_linalg_linear_solver_h
#define femgpu_linalg_linear_solver_h

#include "linalg/device_system.h"
#include "linalg/solvers/preconditioned_solver.h"

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// Checks that the methods that @p options name are compatible.
/// @throws ParameterError if they are not, for unknown names, and for invalid options of methods
void check(const LinearSolverOptions &options);

/**
 * Solves linear systems on an executor. Matrices, right-hand sides and solutions are in host memory
 * or, if the executor is a device, in its memory; all pointers to vectors refer to n() numbers in
 * either. The solver transfers the matrix once and its values whenever they change, keeps the
 * preconditioner up to date, solves, and measures times. It scales and reorders the system, and
 * transforms the solution back.
 *
 * A system may be distributed over ranks: then all functions are collective, vectors contain the
 * rank's owned rows, and reports are the same on all ranks except for seconds and bytes.
 *
 * Data in device memory are read after the work of the executor's stream. Call Executor::wait_for()
 * if another stream writes them. Results are complete when a function returns. Only one thread at a
 * time may use an object and the other objects of its executor; it need not be the thread that made
 * them.
 */
class LinearSolver
{
public:
  /// @param communicator connects the ranks if rows are distributed; nullptr: all rows are on this
  /// rank
  /// @throws ParameterError if check(options) does, and for transformations that need all rows on
  /// one rank
  LinearSolver(ExecutorPtr executor, LinearSolverOptions options,
               CommunicatorPtr communicator = nullptr);

  /**
   * Starts to transfer the pattern of a new matrix in a separate thread, overlapped with the
   * assembly of its values. Until set_matrix(A, false) the executor must not be used, and the
   * pattern and coordinates of @p A must remain valid.
   */
  void begin_pattern(const HostCsr &A);

  /**
   * Sets @p A, which must remain valid until the next call of this function. With @p same_pattern
   * only the values are transferred; A must have the pattern of the previous matrix, whose pattern
   * must remain valid, too. If this function throws, the matrix is released: solve() needs another
   * matrix, which is transferred with its pattern even with @p same_pattern.
   * Does not check the arrays of A: call check_csr() for arrays that may be invalid.
   * @throws InputError if the unknowns of A have a wrong number of coordinates or near-null vectors
   * @throws ParameterError if the format cannot hold A
   * @throws SolverError if the preconditioner cannot be made
   * @throws DeviceError if memory is exhausted
   */
  void set_matrix(const HostCsr &A, bool same_pattern);

  /// Sets a matrix in memory of the executor's device, as the function above does. The device reads
  /// it in place, unless the options scale or reorder the system: this happens on the host.
  void set_matrix(const DeviceCsr &A, bool same_pattern);

  /**
   * Sets a matrix whose entries are not stored. Then the preconditioner must be `identity`,
   * `jacobi`, `chebyshev` (which need the diagonal) or that of set_preconditioner(), and reports
   * contain no backward errors.
   * @throws ParameterError if the options scale, reorder or convert the matrix
   * @throws the exceptions of set_matrix()
   */
  void set_operator(std::shared_ptr<const LinearOperator> A);

  /// Replaces the preconditioner that the options name by @p inverse, M⁻¹. Call this function
  /// before set_matrix() or set_operator().
  /// @param is_symmetric whether M is symmetric, as conjugate gradients require
  /// @throws ParameterError if the solver needs a symmetric M and it is not symmetric
  void set_preconditioner(std::shared_ptr<const LinearOperator> inverse, bool is_symmetric);

  /**
   * Solves A x = b; @p x contains the initial guess. The report contains the backward error of x in
   * the original system. Solves that missed their target only because of rounding are reported as
   * such (rounding.h).
   * @throws SolverError if no matrix is set
   * @throws ParameterError for a negative tolerance or iteration limit
   */
  SolveReport solve(const double *b, double *x);

  /**
   * Solves A X = B for @p n_columns right-hand sides. The columns of B and X follow each other in
   * memory; X contains the initial guesses. Returns a report for each column.
   *
   * A solver with a block form (Solver::block()) solves up to BlockMethod::max_columns columns
   * together; the report of the first column of a block contains the costs of the block. Columns
   * that miss their targets, and all columns for other solvers, are solved one after the other.
   * @throws SolverError if no matrix is set
   */
  std::vector<SolveReport> solve(const double *B, double *X, int n_columns);

  /// Computes y = A x.
  /// @throws SolverError if no matrix is set
  void multiply(const double *x, double *y);

  /// Computes z = M⁻¹ r for the preconditioner, with which the caller can run a method of its own.
  /// With the solver `direct`, M is the identity.
  /// In a scaled system, M⁻¹ approximates the inverse of the original A, too.
  /// @throws SolverError if no matrix is set
  void precondition(const double *r, double *z);

  /// Frees the matrix, but not the data of the preconditioner. Set a new matrix before the next
  /// solve().
  void release();

  /// The number of rows on this rank.
  int n() const;

  SolveControl &control()
  {
    return options.control;
  }
  const Executor &executor() const
  {
    return *owner;
  }

private:
  template <class Set>
  void set_and_set_up(bool only_values, const Set &set);
  SolveReport solve_and_judge(const Vector<double> &b, Vector<double> &x,
                              const SolveControl &control);
  SolveReport solve_once(const Vector<double> &b, Vector<double> &x, const SolveControl &control);
  void judge(const Vector<double> &b, const Vector<double> &x, SolveReport &report);
  void solve_block(const double *B, double *X, const std::vector<int> &columns,
                   std::vector<SolveReport> &reports);
  void continue_column(const double *b, double *x, SolveReport &report);
  bool has_normal_size(const double *b);

  ExecutorPtr owner;
  CommunicatorPtr communicator;
  LinearSolverOptions options;
  PreconditionedSolver solver;
  Vector<double> rhs, solution;
  DeviceSystem system; // last member: its destructor waits for a pending pattern transfer
};
} // namespace femgpu::linalg

#endif
