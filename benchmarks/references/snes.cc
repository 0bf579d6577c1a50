#include "snes.h"

#include <stdexcept>

namespace references
{
namespace
{
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
  if (name == "ilu") { // of each rank's block
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
} // namespace

void check(const PetscErrorCode error)
{
  if (error != 0)
    throw std::runtime_error("A call of PETSc has failed with the error code " +
                             std::to_string(error) + "; its own message is above.");
}

const std::vector<std::string> &snes_preconditioners()
{
  static const std::vector<std::string> names = {"gamg", "hypre", "ilu", "jacobi", "lu"};
  return names;
}

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
} // namespace references
