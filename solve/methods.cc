#include "solve/methods.h"

#include "linalg/direct_solver.h"
#include "linalg/solvers/registry.h"

namespace femgpu
{
namespace
{
std::string diagonal_text(const DiagonalSigns &diagonal)
{
  if (diagonal.n_zeros > 0)
    return std::to_string(diagonal.n_zeros) +
           (diagonal.n_zeros == 1 ? " diagonal entry is zero" : " diagonal entries are zero");
  if (diagonal.n_negative > 0)
    return std::to_string(diagonal.n_negative) + (diagonal.n_negative == 1
                                                      ? " diagonal entry is negative"
                                                      : " diagonal entries are negative");
  return "the diagonal is positive";
}

/// Returns the methods for an indefinite matrix: MINRES with symmetric scaling. A preconditioner is
/// not used, because MINRES needs a positive definite one.
Methods indefinite_methods(const MatrixTraits &matrix, const std::string &reason)
{
  return {"minres", "identity", matrix.has_zero_row ? "none" : "symmetric", reason};
}

std::vector<Methods> symmetric_attempts(const MatrixTraits &matrix, const SolveCommand &command)
{
  const std::string reason = "the matrix is symmetric, and " + diagonal_text(matrix.diagonal);
  if (matrix.diagonal.are_positive()) // `auto` may change between repeated solves
    return {{"pipelined-cg", command.repeat == 1 ? "auto" : "jacobi", "none", reason},
            indefinite_methods(matrix, "the matrix may be indefinite")};
  return {indefinite_methods(matrix, reason + ", so that it is not positive definite"),
          {"idr s=8", "ilu", "matching", "incomplete factors are stronger"}};
}

std::vector<Methods> unsymmetric_attempts(const MatrixTraits &matrix)
{
  const std::string reason = "the matrix is unsymmetric, and ";
  if (matrix.diagonal.n_zeros == 0)
    return {{"pipelined-bicgstab", "jacobi", "none", reason + "no diagonal entry is zero"},
            {"idr s=8", "ilu", "matching", "large entries on the diagonal make ILU stable"}};
  return {{"bicgstab", "ilu", "matching", reason + diagonal_text(matrix.diagonal)},
          {"idr s=8", "jacobi", "matching", "incomplete factors may be unstable"}};
}
} // namespace

bool uses_automatic_methods(const SolveCommand &command)
{
  return command.solver.empty() && command.preconditioner.empty() && command.scaling.empty() &&
         command.nonlinear.empty() && !command.copies && !command.energy_tolerance &&
         !command.fixed_iterations;
}

std::vector<Methods> plan_attempts(const MatrixTraits &matrix, const SolveCommand &command)
{
  std::vector<Methods> attempts =
      matrix.is_symmetric ? symmetric_attempts(matrix, command) : unsymmetric_attempts(matrix);
  if (matrix.n <= linalg::max_fallback_rows && linalg::has_umfpack())
    attempts.push_back({"direct", "", "none", "the system is small"});
  for (std::size_t k = 0; k + 1 < attempts.size(); ++k)
    if (attempts[k].solver != "pipelined-cg") // CG stops early if A is not positive definite
      attempts[k].max_iterations = 5000;
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
  if (linalg::is_direct(methods.solver))
    return methods;
  if (methods.preconditioner.empty()) {
    const char *const own = linalg::solvers.traits(methods.solver).preconditioner;
    methods.preconditioner = own != nullptr ? own : has_full_diagonal ? "jacobi" : "identity";
  }
  return methods;
}

std::string text_of(const Methods &methods)
{
  return methods.solver +
         (methods.preconditioner.empty() ? "" : " with " + methods.preconditioner) +
         (methods.scaling == "none" ? "" : ", scaling " + methods.scaling);
}
} // namespace femgpu
