#include "linalg/dealii/direct_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"

#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
/// Does the text of @p e name UMFPACK's status @p status? deal.II keeps the number to itself.
bool has_status(const dealii::ExceptionBase &e, const int status)
{
  std::ostringstream text;
  e.print_info(text);
  return text.str().find("status " + std::to_string(status) + ".") != std::string::npos;
}

// UMFPACK's numbers.
constexpr int singular = 1, out_of_memory = -1;

dealii::SparsityPattern pattern_of(const HostCsr &A)
{
  dealii::DynamicSparsityPattern dynamic(A.n, A.n);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      dynamic.add(i, A.columns[k]);
  dealii::SparsityPattern pattern;
  pattern.copy_from(dynamic);
  return pattern;
}

double residual_norm(const HostCsr &A, const double *b, const double *x)
{
  double rr = 0.;
  for (int i = 0; i < A.n; ++i) {
    double r_i = b[i];
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      r_i -= A.values[k] * x[A.columns[k]];
    rr += r_i * r_i;
  }
  return std::sqrt(rr);
}

/// Factors and solves; false if the matrix is singular.
bool factor_and_solve(const HostCsr &A, dealii::Vector<double> &rhs_and_solution, double &setup)
{
  Stopwatch watch;
  const dealii::SparsityPattern pattern = pattern_of(A);
  dealii::SparseMatrix<double> matrix(pattern);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      matrix.set(i, A.columns[k], A.values[k]);
  dealii::SparseDirectUMFPACK umfpack;
  try {
    umfpack.initialize(matrix);
    setup = watch.lap();
    umfpack.solve(rhs_and_solution);
    return true;
  }
  catch (const dealii::SparseDirectUMFPACK::ExcUMFPACKError &e) {
    if (has_status(e, out_of_memory))
      throw DeviceError("UMFPACK has not enough memory for the factors of " + std::to_string(A.n) +
                        " rows. Use solver = pipelined-cg, or refine less.");
    if (has_status(e, singular))
      return false;
    std::ostringstream text;
    e.print_info(text);
    throw SolverError("UMFPACK failed: " + text.str());
  }
}
} // namespace

SolveReport solve_direct(const HostCsr &A, const double *b, double *x, const SolveControl &control)
{
  SolveReport report;
  report.solver = "direct";
  report.preconditioner = "no preconditioner";
  report.format = "csr";
  report.backend = "host";
  Stopwatch watch;
  report.initial_residual = residual_norm(A, b, x);
  const std::vector<double> zero(static_cast<std::size_t>(A.n), 0.);
  report.rhs_norm = residual_norm(A, b, zero.data());
  report.target =
      std::max(control.absolute_tolerance,
               control.relative_tolerance * (control.reference == SolveControl::Reference::rhs
                                                 ? report.rhs_norm
                                                 : report.initial_residual));

  dealii::Vector<double> solution(b, b + A.n);
  const bool solved = factor_and_solve(A, solution, report.setup_seconds);
  if (solved)
    std::copy(solution.begin(), solution.end(), x);
  report.true_residual = residual_norm(A, b, x);
  report.outcome = !solved                                 ? Outcome::breakdown
                   : report.true_residual <= report.target ? Outcome::converged
                   : std::isfinite(report.true_residual)   ? Outcome::stagnated
                                                           : Outcome::not_finite;
  report.solve_seconds = watch.lap() - report.setup_seconds;
  describe(report);
  return report;
}
} // namespace femgpu::linalg
