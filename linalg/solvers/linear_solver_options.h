#ifndef femgpu_linalg_solvers_linear_solver_options_h
#define femgpu_linalg_solvers_linear_solver_options_h

#include "linalg/solvers/report.h"

#include <string>

namespace femgpu::linalg
{
/// The methods of a solve, in the syntax of the registries ("NAME OPTION=VALUE ..."), and its
/// stopping criteria.
struct LinearSolverOptions
{
  std::string solver = "pipelined-cg";
  std::string preconditioner = "jacobi";
  std::string format = "csr";
  std::string scaling = "none";
  std::string ordering = "none";
  SolveControl control;
};
} // namespace femgpu::linalg

#endif
