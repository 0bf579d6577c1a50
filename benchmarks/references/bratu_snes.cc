// Solves Bratu's problem with finite elements and SNES of PETSc: Newton's method with backtracking
// and exact Jacobians, and conjugate gradients with a preconditioner of PETSc or hypre. reference.h
// describes the command line. The first argument that begins with '-' and all following ones are
// options of PETSc:
//
//   mpirun -n 2 bin/bratu_snes dimension=3 degree=2 cells=3 refinements=3 lambda=8 -snes_monitor
#include "finite_elements.h"
#include "reference.h"

#include <deal.II/lac/petsc_sparse_matrix.h>
#include <deal.II/lac/petsc_vector.h>

#include <petscsnes.h>

#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>

namespace references
{
namespace
{
struct Petsc
{
  using Vector = PETScWrappers::MPI::Vector;
  using Matrix = PETScWrappers::MPI::SparseMatrix;
};

/// The system R(u) = 0 for SNES, which requests R and J at a given u.
struct NonlinearSystem
{
  Vec u, R;
  Mat J;
  std::function<void(Vec u, Vec R)> residual;
  std::function<void(Vec u)> update_jacobian;
};

/// Checks the error code that a function of PETSc returned. @throws std::runtime_error if it failed
void check(const PetscErrorCode error)
{
  if (error != 0)
    throw std::runtime_error("A call of PETSc has failed with the error code " +
                             std::to_string(error) + "; its own message is above.");
}

PetscErrorCode form_residual(SNES /* snes */, Vec u, Vec R, void *context)
{
  static_cast<const NonlinearSystem *>(context)->residual(u, R);
  return 0;
}

PetscErrorCode form_jacobian(SNES /* snes */, Vec u, Mat /* J */, Mat /* P */, void *context)
{
  static_cast<const NonlinearSystem *>(context)->update_jacobian(u);
  return 0;
}

void choose_preconditioner(PC pc, const std::string &name)
{
  if (name == "ilu") { // block Jacobi with ILU of the block of each rank
    check(PCSetType(pc, PCBJACOBI));
    return;
  }
  check(PCSetType(pc, name.c_str()));
  if (name == "hypre")
    check(PCHYPRESetType(pc, "boomeramg"));
}

double seconds_of(const char *event)
{
  PetscLogEvent id = -1;
  check(PetscLogEventGetId(event, &id));
  PetscEventPerfInfo info = {};
  if (id >= 0)
    check(PetscLogEventGetPerfInfo(PETSC_DETERMINE, id, &info));
  return info.time;
}

/**
 * Solves R(u) = 0 by Newton's method with backtracking (SNES newtonls, bt) and conjugate gradients.
 * Command-line options (-ksp_type, -pc_type, -snes_type, …) override this choice.
 * @param report receives outcome, counts, norms and seconds of the nonlinear solve
 */
void solve_by_snes(const NonlinearSystem &system, const Options &options, Report &report)
{
  check(PetscLogDefaultBegin());
  SNES snes = nullptr;
  check(SNESCreate(PETSC_COMM_WORLD, &snes));
  void *const context = const_cast<NonlinearSystem *>(&system);
  check(SNESSetFunction(snes, system.R, form_residual, context));
  check(SNESSetJacobian(snes, system.J, system.J, form_jacobian, context));
  check(SNESSetType(snes, SNESNEWTONLS));
  check(SNESSetTolerances(snes, 0., options.tolerance, 0., 50, PETSC_DEFAULT));
  KSP ksp = nullptr;
  check(SNESGetKSP(snes, &ksp));
  check(KSPSetType(ksp, KSPCG));
  if (options.linear_tolerance > 0.)
    check(KSPSetTolerances(ksp, options.linear_tolerance, 0., PETSC_DEFAULT, 100000));
  else
    check(SNESKSPSetUseEW(snes, PETSC_TRUE));
  PC pc = nullptr;
  check(KSPGetPC(ksp, &pc));
  choose_preconditioner(pc, options.preconditioner);
  check(SNESSetFromOptions(snes));

  system.residual(system.u, system.R);
  check(VecNorm(system.R, NORM_2, &report.initial_residual));
  PetscLogDouble begin = 0., end = 0.;
  check(PetscTime(&begin));
  check(SNESSolve(snes, nullptr, system.u));
  check(PetscTime(&end));
  report.nonlinear_seconds = end - begin;
  system.residual(system.u, system.R);
  check(VecNorm(system.R, NORM_2, &report.residual));

  PetscInt newton = 0, linear = 0;
  check(SNESGetIterationNumber(snes, &newton));
  check(SNESGetLinearSolveIterations(snes, &linear));
  report.newton_iterations = static_cast<unsigned int>(newton);
  report.linear_iterations = static_cast<unsigned int>(linear);
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  check(SNESGetConvergedReason(snes, &reason));
  report.reason = SNESConvergedReasons[reason];
  report.converged = reason > 0 && report.residual <= options.tolerance * report.initial_residual;
  report.preconditioner_seconds = seconds_of("PCSetUp") + seconds_of("PCSetUpOnBlocks");
  report.linear_seconds = seconds_of("KSPSolve");
  check(SNESDestroy(&snes));
}
template <int dim>
Report solve(const Options &options)
{
  using Vector = Petsc::Vector;
  const Timer total;
  Report report;
  FiniteElements<dim, Petsc> problem(options);
  Vector u, R, at, residual;
  for (Vector *const vector : {&u, &R, &at, &residual})
    problem.reinit(*vector);
  report.setup_seconds = total.wall_time();

  NonlinearSystem system{u, R, problem.jacobian().petsc_matrix(), {}, {}};
  system.residual = [&](Vec from, Vec to) {
    check(VecCopy(from, at));
    problem.residual(at, residual);
    check(VecCopy(residual, to));
  };
  system.update_jacobian = [&](Vec from) {
    check(VecCopy(from, at));
    problem.update_jacobian(at);
  };
  solve_by_snes(system, options, report);

  report.assembly_seconds = problem.assembly_seconds();
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
    const Options options = parse(argc, argv, {"gamg", "hypre", "ilu", "jacobi", "lu"});
    Report report = options.dimension == 2 ? solve<2>(options) : solve<3>(options);
    report.program = "bratu_snes";
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
