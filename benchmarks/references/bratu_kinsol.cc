// Solves Bratu's problem with finite elements and KINSOL of SUNDIALS: Newton's method with line
// search and exact Jacobians. The linear solver is deal.II's conjugate gradients with a
// preconditioner of Trilinos, or a direct solver. reference.h describes the command line:
//
//   mpirun -n 2 bin/bratu_kinsol dimension=3 degree=2 cells=3 refinements=3 lambda=8
#include "finite_elements.h"

#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/sundials/kinsol.h>

#include <cmath>
#include <exception>
#include <iostream>
#include <memory>
#include <utility>

namespace references
{
namespace
{
struct Trilinos
{
  using Vector = TrilinosWrappers::MPI::Vector;
  using Matrix = TrilinosWrappers::SparseMatrix;
};

/// The linear solver of Newton's method. The matrix changes in each Newton step.
class LinearSolver
{
public:
  explicit LinearSolver(const Options &options) : options(options), direct_control(1, 0.)
  {}

  void setup(const TrilinosWrappers::SparseMatrix &K)
  {
    const Timer timer;
    matrix = &K;
    if (options.preconditioner == "amg") {
      auto amg = std::make_unique<TrilinosWrappers::PreconditionAMG>();
      amg->initialize(K, TrilinosWrappers::PreconditionAMG::AdditionalData(
                             /* elliptic */ true, /* higher order */ options.degree > 1,
                             /* cycles */ 1, /* W */ false, /* threshold */ 1e-2));
      preconditioner = std::move(amg);
    }
    else if (options.preconditioner == "ssor") {
      auto ssor = std::make_unique<TrilinosWrappers::PreconditionSSOR>();
      ssor->initialize(K);
      preconditioner = std::move(ssor);
    }
    else if (options.preconditioner == "ic") {
      auto ic = std::make_unique<TrilinosWrappers::PreconditionIC>();
      ic->initialize(K);
      preconditioner = std::move(ic);
    }
    else {
      direct = std::make_unique<TrilinosWrappers::SolverDirect>(direct_control); // KLU
      direct->initialize(K);
    }
    setup_seconds += timer.wall_time();
  }

  /// Solves K x = b. The tolerance is the option linear_tolerance, relative to ‖b‖, or KINSOL's
  /// @p tolerance if the option is 0.
  /// @return whether the tolerance was reached
  bool solve(const TrilinosWrappers::MPI::Vector &b, TrilinosWrappers::MPI::Vector &x,
             const double tolerance)
  {
    const Timer timer;
    bool is_solved = true;
    if (direct)
      direct->solve(x, b);
    else {
      SolverControl control(10000, options.linear_tolerance > 0.
                                       ? options.linear_tolerance * b.l2_norm()
                                       : tolerance);
      SolverCG<TrilinosWrappers::MPI::Vector> cg(control);
      x = 0.;
      try {
        cg.solve(*matrix, x, b, *preconditioner);
      }
      catch (const SolverControl::NoConvergence &) { // reported to KINSOL
        is_solved = false;
      }
      iterations += control.last_step();
    }
    solve_seconds += timer.wall_time();
    return is_solved;
  }

  double setup_seconds = 0., solve_seconds = 0.;
  unsigned int iterations = 0;

private:
  const Options &options;
  const TrilinosWrappers::SparseMatrix *matrix = nullptr;
  std::unique_ptr<TrilinosWrappers::PreconditionBase> preconditioner;
  SolverControl direct_control;
  std::unique_ptr<TrilinosWrappers::SolverDirect> direct;
};

template <int dim>
Report solve(const Options &options)
{
  using Vector = Trilinos::Vector;
  const Timer total;
  Report report;
  FiniteElements<dim, Trilinos> problem(options);
  LinearSolver linear_solver(options);
  Vector u, R;
  problem.reinit(u);
  problem.reinit(R);
  report.setup_seconds = total.wall_time();

  const Timer nonlinear;
  problem.residual(u, R);
  report.initial_residual = R.l2_norm();
  // KINSOL tests the maximum norm of the residual. Rounding errors stop its decrease earlier than
  // that of the Euclidean norm, which is checked at the end of this function.
  const double target = 10. * options.tolerance * R.linfty_norm();

  using Kinsol = SUNDIALS::KINSOL<Vector>;
  typename Kinsol::AdditionalData data(Kinsol::AdditionalData::linesearch, 50, target);
  data.maximum_setup_calls = 1; // one Jacobian per step; the default reuses it for ten
  data.step_tolerance = 1e-15;  // only the residual ends the iteration
  data.maximum_newton_step = 1e3 * std::sqrt(static_cast<double>(problem.n_dofs()));
  Kinsol kinsol(data, MPI_COMM_WORLD);
  kinsol.reinit_vector = [&](Vector &vector) { problem.reinit(vector); };
  kinsol.residual = [&](const Vector &at, Vector &residual) {
    problem.residual(at, residual);
    return std::isfinite(residual.l2_norm()) ? 0 : 1; // 1: KINSOL shortens the step
  };
  kinsol.setup_jacobian = [&](const Vector &at, const Vector & /* residual */) {
    problem.update_jacobian(at);
    linear_solver.setup(problem.jacobian());
    return 0;
  };
  kinsol.solve_with_jacobian = [&](const Vector &b, Vector &x, const double tolerance) {
    return linear_solver.solve(b, x, tolerance) ? 0 : -1; // -1 ends the solve
  };
  report.newton_iterations = kinsol.solve(u);

  problem.residual(u, R);
  report.nonlinear_seconds = nonlinear.wall_time();
  report.residual = R.l2_norm();
  report.converged = report.residual <= options.tolerance * report.initial_residual;
  report.reason = report.converged ? "converged" : "residual above the target";
  report.linear_iterations = linear_solver.iterations;
  report.assembly_seconds = problem.assembly_seconds();
  report.preconditioner_seconds = linear_solver.setup_seconds;
  report.linear_seconds = linear_solver.solve_seconds;
  report.dofs = problem.n_dofs();
  report.max_u = problem.max(u);
  report.total_seconds = total.wall_time();
  if (!options.write.empty())
    problem.write(options.write, u);
  return report;
}
} // namespace
} // namespace references

int main(int argc, char **argv)
{
  using namespace references;
  try {
    const dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
    const Options options = parse(argc, argv, {"amg", "ssor", "ic", "direct"});
    Report report = options.dimension == 2 ? solve<2>(options) : solve<3>(options);
    report.program = "bratu_kinsol";
    report.preconditioner = options.preconditioner;
    report.dimension = options.dimension;
    report.degree = options.degree;
    report.ranks = dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
    if (dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
      print(report);
    return exit_code(report);
  }
  catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
