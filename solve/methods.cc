#include "solve/methods.h"

#include "linalg/solvers/registry.h"

namespace femgpu
{
bool uses_automatic_methods(const SolveCommand &command)
{
  return command.solver.empty() && command.preconditioner.empty() && command.scaling.empty() &&
         command.nonlinear.empty() && !command.copies && !command.energy_tolerance &&
         !command.fixed_iterations;
}

std::vector<Methods> plan_attempts(const linalg::MatrixTraits &matrix, const long long n,
                                   const SolveCommand &command)
{
  std::vector<Methods> attempts = linalg::plan_methods(matrix, n);
  if (command.repeat > 1) // `auto` may change between repeated solves
    for (Methods &methods : attempts)
      if (methods.preconditioner == "auto")
        methods.preconditioner = "jacobi";
  return attempts;
}

Methods with_default_methods(const SolveCommand &command, const bool is_symmetric,
                             const bool has_full_diagonal)
{
  Methods methods{command.solver, command.preconditioner, command.scaling, ""};
  if (methods.scaling.empty())
    methods.scaling = "none";
  if (methods.solver.empty())
    methods.solver = is_symmetric ? "pipelined-cg" : "pipelined-bicgstab";
  if (methods.preconditioner.empty()) {
    const linalg::SolverTraits &solver = linalg::solvers.traits(methods.solver);
    const bool uses_jacobi = has_full_diagonal && !solver.is_direct;
    methods.preconditioner = solver.preconditioner != nullptr ? solver.preconditioner
                             : uses_jacobi                    ? "jacobi"
                                                              : "identity";
  }
  return methods;
}
} // namespace femgpu
