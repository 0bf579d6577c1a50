#include "linalg/linear_solver.h"

#include "linalg/base/error.h"
#include "linalg/operators/multi_vector.h"
#include "linalg/power_of_two_scaling.h"
#include "linalg/solvers/block_method.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace femgpu::linalg
{
namespace
{
/// Divides @p columns into blocks of nearly equal size.
std::vector<std::vector<int>> divide(const std::vector<int> &columns)
{
  const int n = static_cast<int>(columns.size());
  const int n_blocks = (n + BlockMethod::max_columns - 1) / BlockMethod::max_columns;
  std::vector<std::vector<int>> blocks;
  for (int k = 0; k < n_blocks; ++k)
    blocks.emplace_back(columns.begin() + static_cast<std::ptrdiff_t>(n) * k / n_blocks,
                        columns.begin() + static_cast<std::ptrdiff_t>(n) * (k + 1) / n_blocks);
  return blocks;
}
} // namespace

std::vector<SolveReport> LinearSolver::solve(const double *const B, double *const X,
                                             const int n_columns)
{
  owner->make_current();
  system.require_matrix();
  if (n_columns < 0)
    throw ParameterError("There are " + std::to_string(n_columns) +
                         " right-hand sides, but there must be none or more.");
  const auto column_of = [n = static_cast<std::ptrdiff_t>(n())](auto *const columns, const int c) {
    return columns + n * c;
  };
  std::vector<SolveReport> reports(static_cast<std::size_t>(n_columns));
  std::vector<int> in_blocks;
  if (n_columns > 1 && solver.has_block_form() && !options.control.energy_tolerance.is_set())
    for (int c = 0; c < n_columns; ++c)
      if (system.matrix().range()->max(has_normal_size(column_of(B, c)) ? 0. : 1.) == 0.)
        in_blocks.push_back(c);
  for (const std::vector<int> &block : divide(in_blocks))
    solve_block(B, X, block, reports);
  for (int c = 0; c < n_columns; ++c) {
    SolveReport &report = reports[static_cast<std::size_t>(c)];
    if (!std::binary_search(in_blocks.begin(), in_blocks.end(), c))
      report = solve(column_of(B, c), column_of(X, c));
    else if (!report.converged())
      continue_column(column_of(B, c), column_of(X, c), report);
  }
  return reports;
}

/// Returns whether the squares of this rank's rows of @p b neither overflow nor underflow.
bool LinearSolver::has_normal_size(const double *const b)
{
  if (!owner->is_device_memory(b))
    return !PowerOfTwoScaling::is_needed(n(), b);
  system.transfer_rhs(b, rhs);
  return PowerOfTwoScaling(rhs).is_identity();
}

/// Solves the given columns together, and stores their reports.
void LinearSolver::solve_block(const double *const B, double *const X,
                               const std::vector<int> &columns, std::vector<SolveReport> &reports)
{
  const Communication before = system.communication();
  const int n_columns = static_cast<int>(columns.size());
  MultiVector<double> block_B(system.matrix().domain(), n_columns),
      block_X(system.matrix().domain(), n_columns);
  const auto n_rows = static_cast<std::ptrdiff_t>(n());
  for (int k = 0; k < n_columns; ++k) {
    const std::ptrdiff_t begin = n_rows * columns[static_cast<std::size_t>(k)];
    system.transfer_rhs(B + begin, rhs);
    block_B.set_column(k, rhs);
    system.transfer_guess(X + begin, solution);
    block_X.set_column(k, solution);
  }
  std::vector<SolveReport> solved =
      solver.solve_block(system.matrix(), block_B, block_X, options.control);
  for (int k = 0; k < n_columns; ++k) {
    SolveReport &report = solved[static_cast<std::size_t>(k)];
    const int c = columns[static_cast<std::size_t>(k)];
    block_B.get_column(k, rhs);
    block_X.get_column(k, solution);
    system.transfer_solution(solution, X + n_rows * c);
    report.method.scaling = options.scaling;
    report.method.ordering = options.ordering;
    if (system.is_scaled())
      judge(system.copy_for_judgement(B + n_rows * c), system.copy_for_judgement(X + n_rows * c),
            report);
    else
      judge(rhs, solution, report);
    describe(report);
  }
  solved.front().costs.communication = system.communication() - before;
  for (int k = 0; k < n_columns; ++k) {
    SolveReport &report = solved[static_cast<std::size_t>(k)];
    system.complete_report(report);
    reports[static_cast<std::size_t>(columns[static_cast<std::size_t>(k)])] = std::move(report);
  }
}

/// Continues the solve of a column that has missed its target in a block: rounding may be the
/// reason (rounding.h), or another preconditioner may be needed.
void LinearSolver::continue_column(const double *const b, double *const x, SolveReport &report)
{
  const SolveControl control = options.control;
  if (report.iterations >= control.max_iterations)
    return;
  options.control.relative_tolerance = 0.;
  options.control.absolute_tolerance = report.target;
  options.control.max_iterations -= report.iterations;
  try {
    append_solve(report, solve(b, x));
  }
  catch (...) {
    options.control = control;
    throw;
  }
  options.control = control;
}
} // namespace femgpu::linalg
