#ifndef femgpu_linalg_direct_solver_h
#define femgpu_linalg_direct_solver_h

#include "linalg/base/choice.h"
#include "linalg/base/host_matrix.h"
#include "linalg/solvers/report.h"

#include <string>
#include <vector>

namespace femgpu::linalg
{
/// Rows up to which programs fall back to the direct solver. One core takes 2.2 s and 0.7 GB for
/// 38,000 rows of 3D elasticity of degree 2 one cell thick, 4.2 s for 54,000, and 92 s and 2.8 GB
/// for 82,000 rows four cells thick.
constexpr int largest_fallback = 50000;

/// The solvers of the registry and "direct".
std::vector<Choice> solver_choices();

/// Does the text name the direct solver? @throws ParameterError for options, which it has none of
bool is_direct(const std::string &solver);

/// @throws ParameterError naming the valid ones if @p text has an unknown name or option, or if it
/// is "direct" and the program was built without UMFPACK
void check_solver(const std::string &text);

/// Was the program built with UMFPACK?
bool have_direct();

/// LU factors of a matrix in host memory, by UMFPACK on one core.
class LuFactors
{
public:
  /// @throws DeviceError without memory, SolverError if UMFPACK fails otherwise
  explicit LuFactors(const HostCsr &A);
  ~LuFactors();
  LuFactors(const LuFactors &) = delete;
  LuFactors &operator=(const LuFactors &) = delete;

  /// v = A⁻¹v; false, and v as it was, if A is singular.
  bool solve(double *v) const;

private:
  bool check(int status) const;

  int n;
  std::vector<long> row_starts, columns; ///< as UMFPACK counts
  const double *values;                  ///< of A
  void *numeric = nullptr;
  bool is_singular = false;
};

/**
 * Solves A x = b by LU factors, and recomputes the residual.
 * Use: reference solutions and small systems; in 3D the factors outgrow the memory at some 1e5
 * rows. Fails: outcome breakdown for a singular matrix; stagnated if the estimated error of x
 * exceeds largest_forward_error. @throws DeviceError without memory, ParameterError without UMFPACK
 */
SolveReport solve_direct(const HostCsr &A, const double *b, double *x, const SolveControl &control);
} // namespace femgpu::linalg

#endif
