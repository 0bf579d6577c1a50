#ifndef femgpu_solve_system_h
#define femgpu_solve_system_h

#include "linalg/matrices/host_matrix.h"
#include "solve/command_line.h"
#include "solve/matrix_facts.h"

#include <string>
#include <vector>

namespace femgpu
{
/// A x = b with an initial guess, and the methods that it is solved with.
struct SystemToSolve
{
  linalg::HostMatrix A;
  std::vector<double> b, x0;
  std::string rhs; ///< where b comes from: a file, "row-sums", ..., or "the generator's own"

  bool is_symmetric = false; ///< A, by its numbers
  RowLengths lengths;
  std::string solver, preconditioner; ///< as asked for, or chosen by the matrix
};

/**
 * Reads or generates what @p command says, makes the right-hand side and chooses the methods.
 * @throws InputError for files, ParameterError for wrong names and for a solver that needs symmetry
 *         where the matrix, as it is scaled, has none
 */
SystemToSolve make_system(const SolveCommand &command);
} // namespace femgpu

#endif
