#ifndef femgpu_solve_system_h
#define femgpu_solve_system_h

#include "linalg/base/host_matrix.h"
#include "solve/command_line.h"
#include "solve/generators/varied_systems.h"
#include "solve/matrix_properties.h"
#include "solve/methods.h"
#include "solve/nonlinear_term.h"
#include "solve/ranks.h"

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// The system A x = b or A x = b + λ W φ(x), with an initial guess x₀ and the methods to solve it.
/// A batch has several b, concatenated, and possibly several A, but only one x₀. With several
/// ranks, either the first rank has the whole system, or each rank has the rows that it generated.
struct SystemToSolve
{
  linalg::HostMatrix A;
  bool is_distributed = false;     ///< do A, b, x₀ and W have the rows of this rank only?
  long long n = 0, n_nonzeros = 0; ///< numbers of rows and entries of the whole matrix
  std::vector<double> b, x0;
  int n_systems = 1;
  bool is_batch = false;
  std::optional<linalg::VariedSystems> copies; ///< with --copies, replaces A and b
  std::string rhs; ///< source of b: a file, "row-sums", ..., or "the generator's own"

  std::optional<NonlinearTerm> nonlinear;
  std::vector<double> weights; ///< the diagonal W of the nonlinear term

  bool is_symmetric = false;       ///< are the values of A symmetric?
  bool has_both_triangles = false; ///< does a file of a (skew-)symmetric A store both triangles?
  RowLengths lengths;
  std::string format = "csr";    ///< named by the user, or chosen by the row lengths
  std::vector<Methods> attempts; ///< named by the user, or chosen by the matrix; at least one

  /// Returns the matrices of a batch.
  std::vector<linalg::HostCsr> matrices() const;
  /// Returns the right-hand sides of a batch, concatenated.
  const std::vector<double> &all_b() const
  {
    return copies ? copies->b : b;
  }
};

/**
 * Reads or generates the system of @p command, creates the right-hand side and chooses the methods.
 * @param may_fall_back whether there may be several attempts, each used if the previous ones fail
 * @throws InputError for invalid files
 * @throws ParameterError for invalid names, for a solver that needs a symmetric matrix if the
 *         scaled matrix is unsymmetric, for a nonlinear term without weights, and for options that
 *         batches do not support
 */
SystemToSolve make_system(const SolveCommand &command, bool may_fall_back);

/// Can each rank generate its own rows? Returns false if a scaling, an ordering, a right-hand side,
/// an initial guess or a batch needs the whole system.
bool can_generate_locally(const SolveCommand &command);

/// Collective. Generates the rows of this rank and chooses the methods.
/// @throws ParameterError for invalid names or options, or methods that do not suit the matrix
SystemToSolve generate_local_rows(const SolveCommand &command, const Ranks &ranks);
} // namespace femgpu

#endif
