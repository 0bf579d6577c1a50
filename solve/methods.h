#ifndef femgpu_solve_methods_h
#define femgpu_solve_methods_h

#include "solve/command_line.h"
#include "solve/matrix_properties.h"

#include <string>
#include <vector>

namespace femgpu
{
/// The methods of an attempt to solve a linear system.
struct Methods
{
  std::string solver, preconditioner, scaling;
  std::string reason;     ///< reason for this choice; empty if the user named a method
  int max_iterations = 0; ///< iteration limit, unless the user sets one; 0: the default limit
};

/// The properties of a matrix that determine the choice of methods.
struct MatrixTraits
{
  long long n = 0;
  bool is_symmetric = false;
  DiagonalSigns diagonal;
  bool has_zero_row = false;
};

/// Does femgpu-solve choose the methods, and fall back to other methods if these fail? Returns true
/// if the user names neither solver, preconditioner nor scaling, and does not request a feature
/// that some methods lack: a batch, a nonlinear term, an energy tolerance or a fixed number of
/// iterations.
bool uses_automatic_methods(const SolveCommand &command);

/**
 * Returns the methods of all attempts to solve a system, in order, chosen by the properties of the
 * matrix. The last attempt is the direct solver if the system has at most max_fallback_rows rows
 * and femgpu was built with UMFPACK. `benchmarks/collection.py` measures this choice.
 */
std::vector<Methods> plan_attempts(const MatrixTraits &matrix, const SolveCommand &command);

/// Returns the methods that @p command names, completed by defaults.
/// @param is_symmetric whether the scaled matrix is symmetric
/// @param has_full_diagonal whether all diagonal entries of the scaled matrix are nonzero
Methods with_default_methods(const SolveCommand &command, bool is_symmetric,
                             bool has_full_diagonal);

/// Describes the methods: "idr s=8 with ilu, scaling matching".
std::string text_of(const Methods &methods);
} // namespace femgpu

#endif
