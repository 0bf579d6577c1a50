#ifndef femgpu_solve_methods_h
#define femgpu_solve_methods_h

#include "solve/command_line.h"
#include "solve/matrix_facts.h"

#include <string>
#include <vector>

namespace femgpu
{
/// Methods of an attempt to solve a linear system.
struct Methods
{
  std::string solver, preconditioner, scaling;
  std::string reason;      ///< why these; empty where the user has named one of them
  int most_iterations = 0; ///< unless the user says how many; 0: as many as by default
};

/// Properties of a matrix by which methods are chosen.
struct MatrixTraits
{
  long long n = 0;
  bool is_symmetric = false;
  DiagonalSigns diagonal;
  bool has_zero_row = false;
};

/// Does the program choose methods, and others where they fail? The user names none of solver,
/// preconditioner and scaling, and asks for nothing that some of them lack: a batch, a nonlinear
/// term, the energy error, or a fixed number of iterations.
bool chooses_methods(const SolveCommand &command);

/**
 * The attempts to solve a system, in their order, by its matrix alone; the last one is the direct
 * solver for systems of up to largest_fallback rows. `benchmarks/collection.py` measures them.
 */
std::vector<Methods> attempts_for(const MatrixTraits &matrix, const SolveCommand &command);

/// The methods that @p command names, completed for a matrix that is symmetric as it is scaled, or
/// not.
Methods completed(const SolveCommand &command, bool is_symmetric, bool has_full_diagonal);

/// "idr s=8 with ilu, scaling matching"
std::string text_of(const Methods &methods);
} // namespace femgpu

#endif
