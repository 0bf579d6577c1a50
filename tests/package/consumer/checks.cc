// Checks details of femgpu's interface to deal.II: controls, failures, reuse, and wrong arguments,
// for the matrices of one process and for those of Trilinos.

#include <deal.II/base/index_set.h>
#include <deal.II/base/logstream.h>
#include <deal.II/base/mpi.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector.h>
#include <femgpu/dealii.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

using namespace dealii;

namespace
{
constexpr unsigned int n = 200;

void check(const bool condition, const std::string &what)
{
  if (condition)
    return;
  std::cerr << "failed: " << what << std::endl;
  std::exit(1);
}

/// Checks that @p act throws an exception of type @p ErrorType with @p text in its message.
template <class ErrorType, class Act>
void check_throws(const std::string &text, const Act &act)
{
  try {
    act();
  }
  catch (const ErrorType &error) {
    check(std::string(error.what()).find(text) != std::string::npos, error.what());
    return;
  }
  check(false, "no exception: " + text);
}

/// Calls entry(i, j, value) for the entries of the second difference with the diagonal 2 + shift.
template <class Entry>
void for_each_entry(const double shift, const Entry &entry)
{
  for (unsigned int i = 0; i < n; ++i) {
    entry(i, i, 2. + shift);
    if (i > 0)
      entry(i, i - 1, -1.);
    if (i + 1 < n)
      entry(i, i + 1, -1.);
  }
}

void check_one_process()
{
  DynamicSparsityPattern dynamic_pattern(n);
  for_each_entry(0., [&](const auto i, const auto j, double) { dynamic_pattern.add(i, j); });
  SparsityPattern pattern;
  pattern.copy_from(dynamic_pattern);
  SparseMatrix<double> A(pattern);
  const auto set = [&](const double shift) {
    for_each_entry(shift, [&](const auto i, const auto j, const double a) { A.set(i, j, a); });
  };
  set(0.);
  Vector<double> x(n), b(n), r(n);
  b = 1.;
  const auto solve = [&](SolverControl &control, femgpu::Preconditioner &M) {
    femgpu::SolverCG solver(control, "host");
    solver.solve(A, x, b, M);
    return solver.report();
  };

  femgpu::PreconditionJacobi jacobi;
  SolverControl control(1000, 1e-9);
  check_throws<femgpu::ParameterError>("Call initialize(matrix)", [&] { solve(control, jacobi); });
  jacobi.initialize(A);
  solve(control, jacobi);
  A.residual(r, x, b);
  check(r.l2_norm() <= 1e-9, "the residual meets the absolute tolerance");
  check(std::abs(control.last_value() - r.l2_norm()) < 1e-10, "last_value() is the residual");
  check(control.last_check() == SolverControl::success && control.last_step() > 50, "state");
  solve(control, jacobi);
  check(control.last_step() == 0, "x is the initial guess");

  set(1.); // without initialize()
  x = 0.;
  check(solve(control, jacobi).costs.setup_seconds > 0., "new values update the preconditioner");
  check(control.last_step() < 50, "new values are used");
  x = 0.;
  check(solve(control, jacobi).costs.setup_seconds == 0.,
        "an unchanged matrix is not set up again");
  check(jacobi.n_patterns() == 1, "one pattern");

  x = 1.;
  ReductionControl reduction(1000, 0., 1e-3);
  solve(reduction, jacobi);
  check(reduction.last_value() <= 1e-3 * reduction.initial_value() && reduction.last_value() > 0.,
        "the reduction is relative to the initial residual");

  set(0.);
  x = 0.;
  SolverControl few(5, 1e-9);
  check_throws<SolverControl::NoConvergence>("5 iterations", [&] { solve(few, jacobi); });
  check(few.last_step() == 5 && few.last_value() > 1e-9, "values of the failed solve");
  x = 0.;
  IterationNumberControl fixed(5, 1e-9);
  solve(fixed, jacobi);
  check(fixed.last_step() == 5, "a control may accept the last iterate");

  x = 0.;
  SolverControl rounding(20000, 1e-16);
  solve(rounding, jacobi);
  check(rounding.last_check() == SolverControl::success && rounding.tolerance() == 1e-16,
        "a solution with all attainable digits is accepted");

  femgpu::Preconditioner ilu("ilu");
  ilu.initialize(A);
  x = 0.;
  femgpu::Solver gmres(control, "gmres restart=30", "host");
  gmres.solve(A, x, b, ilu);
  check(control.last_step() < 20, "any solver and preconditioner can be used");
  check_throws<femgpu::ParameterError>("no solver",
                                       [&] { femgpu::Solver(control, "cgs").solve(A, x, b, ilu); });

  femgpu::PreconditionMG amg;
  amg.initialize(A);
  check_throws<femgpu::ParameterError>("Call set_up(matrix)", [&] { amg.vmult(x, b); });
  amg.set_up(A, "host");
  x = 0.;
  SolverCG<Vector<double>>(control).solve(A, x, b, amg);
  A.residual(r, x, b);
  check(control.last_step() < 20 && r.l2_norm() <= 1e-8,
        "deal.II's solver uses the preconditioner");

  DynamicSparsityPattern wide_dynamic(n, n + 1);
  SparsityPattern wide_pattern;
  wide_pattern.copy_from(wide_dynamic);
  const SparseMatrix<double> wide(wide_pattern);
  femgpu::PreconditionJacobi of_wide;
  of_wide.initialize(wide);
  check_throws<femgpu::InputError>(
      "square", [&] { femgpu::SolverCG(control, "host").solve(wide, x, b, of_wide); });

  Vector<double> other(n + 1);
  check_throws<femgpu::InputError>(
      "does not fit", [&] { femgpu::SolverCG(control, "host").solve(A, x, other, jacobi); });
  femgpu::PreconditionMG multigrid;
  femgpu::PreconditionMG::AdditionalData data;
  data.constant_modes = {std::vector<bool>(n, true), std::vector<bool>(n - 1, true)};
  check_throws<femgpu::ParameterError>("different sizes", [&] { multigrid.initialize(A, data); });
  data.constant_modes.clear();
  data.constant_modes_values = {std::vector<double>(n, 3.)};
  check_throws<femgpu::ParameterError>("extract_constant_modes()",
                                       [&] { multigrid.initialize(A, data); });
  data.constant_modes_values = {std::vector<double>(n - 1, 1.)};
  multigrid.initialize(A, data);
  check_throws<femgpu::InputError>("near-null vectors", [&] { solve(control, multigrid); });
}

void check_trilinos()
{
  const MPI_Comm ranks = MPI_COMM_WORLD;
  const unsigned int n_ranks = Utilities::MPI::n_mpi_processes(ranks),
                     rank = Utilities::MPI::this_mpi_process(ranks);
  IndexSet owned(n);
  owned.add_range(n * rank / n_ranks, n * (rank + 1) / n_ranks);
  TrilinosWrappers::SparseMatrix A(owned, ranks, 3);
  for_each_entry(0., [&](const auto i, const auto j, const double a) {
    if (owned.is_element(i))
      A.set(i, j, a);
  });
  A.compress(VectorOperation::insert);
  TrilinosWrappers::MPI::Vector x(owned, ranks), b(owned, ranks), r(owned, ranks);
  b = 1.;
  SolverControl control(1000, 1e-9);
  femgpu::SolverCG solver(control, "host");
  femgpu::PreconditionMG M;
  M.initialize(A);
  solver.solve(A, x, b, M);
  A.residual(r, x, b);
  check(r.l2_norm() <= 1e-9, "the residual meets the absolute tolerance");
  A *= 2.;
  solver.solve(A, x, b, M);
  A.residual(r, x, b);
  check(r.l2_norm() <= 1e-9 && M.n_patterns() == 1, "new values of the same pattern");

  M.set_up(A, "host");
  x = 0.;
  SolverCG<TrilinosWrappers::MPI::Vector>(control).solve(A, x, b, M);
  A.residual(r, x, b);
  check(r.l2_norm() <= 1e-8 && M.n_patterns() <= 2, "deal.II's solver uses the preconditioner");

  IndexSet relevant = complete_index_set(n);
  const TrilinosWrappers::MPI::Vector with_ghosts(owned, relevant, ranks);
  if (n_ranks > 1)
    check_throws<femgpu::InputError>("ghost", [&] { solver.solve(A, x, with_ghosts, M); });
  femgpu::PreconditionMG::AdditionalData data; // wrong on the last rank only
  data.constant_modes = {std::vector<bool>(owned.n_elements(), true),
                         std::vector<bool>(owned.n_elements() - (rank + 1 == n_ranks ? 1 : 0))};
  check_throws<femgpu::ParameterError>(n_ranks > 1 ? "" : "different sizes",
                                       [&] { M.initialize(A, data); });

  IndexSet scattered(n); // rows of different ranks alternate
  for (unsigned int i = rank; i < n; i += n_ranks)
    scattered.add_index(i);
  TrilinosWrappers::SparseMatrix B(scattered, ranks, 1);
  for (const auto i : scattered)
    B.set(i, i, 1.);
  B.compress(VectorOperation::insert);
  TrilinosWrappers::MPI::Vector y(scattered, ranks), c(scattered, ranks);
  M.initialize(B);
  if (n_ranks > 1)
    check_throws<femgpu::InputError>("contiguous rows", [&] { solver.solve(B, y, c, M); });
}
} // namespace

int main(int argc, char **argv)
{
  const Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  deallog.depth_console(0);
  check_one_process();
  check_trilinos();
}
