#ifndef femgpu_benchmarks_references_snes_h
#define femgpu_benchmarks_references_snes_h

#include "reference.h"

#include <petscsnes.h>

#include <functional>
#include <string>
#include <vector>

namespace references
{
/// R(u) = 0 for SNES: R and J are filled from u whenever SNES asks for them.
struct NonlinearSystem
{
  Vec u, R;
  Mat J;
  std::function<void(Vec u, Vec R)> residual;
  std::function<void(Vec u)> update_jacobian;
};

/// Those that solve_by_snes() knows.
const std::vector<std::string> &snes_preconditioners();

/**
 * Solves R(u) = 0 by Newton's method with backtracking (SNES newtonls, bt) and conjugate gradients.
 * Options of the command line (-ksp_type, -pc_type, -snes_type, …) override all that.
 * @param report gets outcome, counts, norms and seconds of the nonlinear solve
 */
void solve_by_snes(const NonlinearSystem &system, const Options &options, Report &report);

/// @throws std::runtime_error if a call of PETSc has failed
void check(PetscErrorCode error);
} // namespace references

#endif
