#ifndef femgpu_linalg_nonlinear_jacobian_h
#define femgpu_linalg_nonlinear_jacobian_h

#include "linalg/matrices/registry.h"
#include "linalg/nonlinear/nonlinear_method.h"
#include "linalg/solvers/krylov.h"
#include "linalg/solvers/preconditioned_solver.h"

#include <memory>
#include <string>
#include <utility>

namespace femgpu::linalg
{
/// Computes J_ii = A_ii − λ w_i φ'(x_i).
template <class Row>
struct SetJacobianDiagonal
{
  CsrView<double> A;
  Row row;
  const double *x;
  double *values; ///< values of J, in the pattern of A

  FEMGPU_HD
  void operator()(const int i) const
  {
    const int k = A.diagonal_entry(i);
    if (k >= 0)
      values[A.row_starts[i] + k] = A.entries(i).values[k] - row.derivative(i, x[i]);
  }
};

/**
 * The Jacobian J(x), stored separately from A. setup() copies the pattern of A; refresh() updates
 * the diagonal and the format for a new x in the executor's memory.
 */
template <class Backend>
class JacobianMatrix
{
public:
  /// @param format the name of a matrix format, with its options
  explicit JacobianMatrix(std::string format) : format(std::move(format))
  {}

  /// Copies the pattern and the values of @p A.
  /// @throws DeviceError if memory is insufficient
  void setup(const Matrix &A)
  {
    matrix.reset(); // two at a time might not fit
    csr.reset();
    csr = std::make_unique<CsrMatrix>(A.csr().copy());
    matrix = make_format(format, *csr);
  }

  /// Copies new values of @p A, which has the pattern of setup().
  void update(const Matrix &A)
  {
    csr->copy_values_from(A.csr());
  }

  void refresh(const SemilinearEquation &F, Buffer<double> &x)
  {
    Runner<Backend> runner(*csr->executor());
    F.visit_row([&](const auto &row) {
      using Row = std::decay_t<decltype(row)>;
      runner.run(rows(csr->n(), SetJacobianDiagonal<Row>{F.matrix().csr().csr_view(), row, x.data(),
                                                         csr->mutable_values()}));
    });
    matrix->update();
  }

  const Matrix &operator*() const
  {
    return *matrix;
  }

private:
  std::string format;
  std::unique_ptr<CsrMatrix> csr;
  std::unique_ptr<Matrix> matrix; // in the requested format; refers to csr
};

/// J(x) with a linear solver and a preconditioner, which refresh() updates together with J.
template <class Backend>
class Jacobian
{
public:
  /// @throws ParameterError for unknown names and options
  explicit Jacobian(const LinearSolverOptions &options)
      : solver(options, Backend::kind), matrix(options.format)
  {}

  /// Copies the pattern and the values of @p A.
  /// @throws DeviceError if memory is insufficient
  void setup(const Matrix &A)
  {
    is_prepared = false;
    matrix.setup(A);
  }

  /// Copies new values of @p A, which has the pattern of setup().
  void update(const Matrix &A)
  {
    matrix.update(A);
  }

  /// Refreshes J and its preconditioner for @p x.
  void refresh(const SemilinearEquation &F, Buffer<double> &x)
  {
    matrix.refresh(F, x);
    solver.set_up(*matrix, is_prepared);
    is_prepared = true;
  }

  /// Solves J d = r. @p d contains the initial guess, and receives the solution.
  SolveReport solve(const Buffer<double> &r, Buffer<double> &d, const SolveControl &control)
  {
    return solver.solve(*matrix, r, d, control);
  }

private:
  PreconditionedSolver solver;
  JacobianMatrix<Backend> matrix;
  bool is_prepared = false; // the preconditioner is set up for the pattern
};
} // namespace femgpu::linalg

#endif
