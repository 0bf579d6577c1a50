#ifndef femgpu_solve_methods_h
#define femgpu_solve_methods_h

#include "linalg/method_plan.h"
#include "solve/command_line.h"

#include <string>
#include <vector>

namespace femgpu
{
using linalg::Methods;

/// Does femgpu-solve choose the methods, and fall back to other methods if these fail? Returns true
/// if the user names neither solver, preconditioner nor scaling, and does not request a feature
/// that some methods lack: a batch, a nonlinear term, an energy tolerance or a fixed number of
/// iterations.
bool uses_automatic_methods(const SolveCommand &command);

/// Returns the methods of all attempts to solve a system with @p n rows, in order: those of
/// linalg::plan_methods(), but none that change between repeated solves.
std::vector<Methods> plan_attempts(const linalg::MatrixTraits &matrix, long long n,
                                   const SolveCommand &command);

/// Returns the methods that @p command names, completed by defaults.
/// @param is_symmetric whether the scaled matrix is symmetric
/// @param has_full_diagonal whether all diagonal entries of the scaled matrix are nonzero
Methods with_default_methods(const SolveCommand &command, bool is_symmetric,
                             bool has_full_diagonal);
} // namespace femgpu

#endif
