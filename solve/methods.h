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
  std::string reason;     ///< for this choice; empty if the user named a method
  int max_iterations = 0; ///< limit unless the user sets one; 0: the default
};

/// The properties of a matrix that determine the choice of methods.
struct MatrixTraits
{
  long long n = 0;
  bool is_symmetric = false;
  DiagonalSigns diagonal;
  bool has_zero_row = false;
};

/// Does the program choose methods, and fall back to others if they fail? It does if the user names
/// neither solver, preconditioner nor scaling, and does not request a feature that some methods
/// lack: a batch, a nonlinear term, an energy tolerance or a fixed number of iterations.
bool uses_automatic_methods(const SolveCommand &command);

/**
 * Returns the attempts to solve a system, in order, chosen by the properties of its matrix. The
 * last one is the direct solver if the system has at most max_fallback_rows rows.
 * `benchmarks/collection.py` measures them.
 */
std::vector<Methods> plan_attempts(const MatrixTraits &matrix, const SolveCommand &command);

/// Completes the methods that @p command names with defaults.
/// @param is_symmetric is the scaled matrix symmetric?
/// @param has_full_diagonal does the diagonal of the scaled matrix have no zeros?
Methods with_default_methods(const SolveCommand &command, bool is_symmetric,
                             bool has_full_diagonal);

/// Returns a text as "idr s=8 with ilu, scaling matching".
std::string text_of(const Methods &methods);
} // namespace femgpu

#endif
