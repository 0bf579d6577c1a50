#include "linalg/method_plan.h"

#include "linalg/direct_fallback.h"

#include <algorithm>
#include <cstddef>

namespace femgpu::linalg
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

std::vector<Methods> symmetric_attempts(const MatrixTraits &matrix)
{
  const std::string reason = "the matrix is symmetric, and " + diagonal_text(matrix.diagonal);
  if (matrix.diagonal.are_positive())
    return {{"pipelined-cg", "auto", "none", reason},
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

bool has_zero_row(const HostCsr &A)
{
  for (int i = 0; i < A.n; ++i) {
    const double *const values = A.values + A.row_starts[i];
    if (std::all_of(values, values + A.row_starts.length(i),
                    [](const double value) { return value == 0.; }))
      return true;
  }
  return false;
}

std::vector<Methods> plan_methods(const MatrixTraits &matrix, const long long n)
{
  std::vector<Methods> attempts =
      matrix.is_symmetric ? symmetric_attempts(matrix) : unsymmetric_attempts(matrix);
  if (permits_fallback(n))
    attempts.push_back({"direct", "", "none", "the system is small"});
  for (std::size_t k = 0; k + 1 < attempts.size(); ++k)
    if (attempts[k].solver != "pipelined-cg") // CG stops early if A is not positive definite
      attempts[k].max_iterations = 5000;
  return attempts;
}

std::string text_of(const Methods &methods)
{
  return methods.solver +
         (methods.preconditioner.empty() ? "" : " with " + methods.preconditioner) +
         (methods.scaling == "none" ? "" : ", scaling " + methods.scaling);
}
} // namespace femgpu::linalg
