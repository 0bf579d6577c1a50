#ifndef femgpu_solve_system_h
#define femgpu_solve_system_h

#include "linalg/base/host_matrix.h"
#include "solve/command_line.h"
#include "solve/generators/varied_systems.h"
#include "solve/matrix_facts.h"
#include "solve/methods.h"
#include "solve/nonlinear_term.h"
#include "solve/ranks.h"

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// A x = b, or A x = b + λ W φ(x), with an initial guess, and the methods that it is solved with.
/// A batch has several b and x₀, one behind the other, and perhaps several A. Of several ranks the
/// first one has it, or each the rows that it has generated.
struct SystemToSolve
{
  linalg::HostMatrix A;
  bool is_share = false;           ///< are A, b, x₀ and W those of this rank?
  long long n = 0, n_nonzeros = 0; ///< of the whole matrix
  std::vector<double> b, x0;
  int n_systems = 1;
  bool is_batch = false;
  std::optional<linalg::VariedSystems> copies; ///< instead of A and b
  std::string rhs; ///< where b comes from: a file, "row-sums", ..., or "the generator's own"

  std::optional<NonlinearTerm> nonlinear;
  std::vector<double> weights; ///< of the nonlinear term

  bool is_symmetric = false;       ///< A, by its numbers
  bool has_both_triangles = false; ///< the file, though it says that A is (skew-)symmetric
  RowLengths lengths;
  std::string format = "csr";    ///< as asked for, or chosen by the row lengths
  std::vector<Methods> attempts; ///< as asked for, or chosen by the matrix; at least one

  /// The matrices of a batch.
  std::vector<linalg::HostCsr> matrices() const;
  /// The right-hand sides of a batch.
  const std::vector<double> &all_b() const
  {
    return copies ? copies->b : b;
  }
};

/**
 * Reads or generates what @p command says, makes the right-hand side and chooses the methods.
 * @param may_fall_back may methods follow each other where they fail?
 * @throws InputError for files, ParameterError for wrong names, for a solver that needs symmetry
 *         where the matrix, as it is scaled, has none, for a nonlinear term without weights, and
 *         for what batches do not have
 */
SystemToSolve make_system(const SolveCommand &command, bool may_fall_back);

/// Can each rank generate its own rows? Not where somebody needs all of them.
bool can_be_shared(const SolveCommand &command);

/// Collective. Generates the rows of a rank. @throws as make_system()
SystemToSolve make_share(const SolveCommand &command, const Ranks &ranks);
} // namespace femgpu

#endif
