#ifndef femgpu_linalg_direct_solver_h
#define femgpu_linalg_direct_solver_h

#include "linalg/base/choice.h"
#include "linalg/base/host_matrix.h"
#include "linalg/solvers/report.h"

#include <string>
#include <vector>

namespace femgpu::linalg
{
/// The maximum number of rows for which programs fall back to the direct solver. For 3D elasticity
/// of degree 2, one core needs 2.2 s and 0.7 GB for 38,000 rows of a body one cell thick, 4.2 s for
/// 54,000 rows of such a body, and 92 s and 2.8 GB for 82,000 rows of a body four cells thick.
constexpr int max_fallback_rows = 50000;

/// Returns the solvers of the registry and "direct".
std::vector<Choice> solver_choices();

/// Returns whether @p solver names the direct solver.
/// @throws ParameterError if it names the direct solver with options, because there are none
bool is_direct(const std::string &solver);

/// Checks that @p text names a solver.
/// @throws ParameterError, which lists valid names, if it has an unknown name or option, or if it
/// is "direct" and the program was built without UMFPACK
void check_solver(const std::string &text);

/// Returns whether the program was built with UMFPACK.
bool has_umfpack();

/// LU factors of a matrix in host memory, computed by UMFPACK on one core.
class LuFactors
{
public:
  /// @throws DeviceError if memory is exhausted
  /// @throws SolverError if UMFPACK fails for another reason; a singular A is not an error
  explicit LuFactors(const HostCsr &A);
  ~LuFactors();
  LuFactors(const LuFactors &) = delete;
  LuFactors &operator=(const LuFactors &) = delete;

  /// Replaces v by A⁻¹v; returns false and leaves v unchanged if A is singular.
  bool solve(double *v) const;

private:
  bool check(int status) const;

  int n;
  std::vector<long> row_starts, columns; ///< pattern of A, in the integer type of UMFPACK
  const double *values;                  ///< values of A, not copied
  void *numeric = nullptr;
  bool is_singular = false;
};

/**
 * Solves A x = b by LU factors, and recomputes the residual.
 *
 * Use: reference solutions and small systems; in 3D, from about 1e5 rows on, the factors do not fit
 * into memory. Fails: outcome breakdown if the matrix is singular; stagnated if the estimated error
 * of x exceeds largest_forward_error.
 * @throws DeviceError if memory is exhausted
 * @throws ParameterError if the program was built without UMFPACK
 */
SolveReport solve_direct(const HostCsr &A, const double *b, double *x, const SolveControl &control);
} // namespace femgpu::linalg

#endif
