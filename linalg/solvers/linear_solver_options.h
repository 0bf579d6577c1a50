#ifndef femgpu_linalg_solvers_linear_solver_options_h
#define femgpu_linalg_solvers_linear_solver_options_h

#include "linalg/solvers/report.h"

#include <string>

namespace femgpu::linalg
{
/// Which method, as the registries know them ("NAME OPTION=VALUE ..."), and when it ends.
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
