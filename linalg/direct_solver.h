#ifndef femgpu_linalg_direct_solver_h
#define femgpu_linalg_direct_solver_h

#include "linalg/base/choice.h"
#include "linalg/direct/factors.h"
#include "linalg/solvers/report.h"

#include <memory>
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
/// is "direct", the program was built without UMFPACK, and there is no GPU
void check_solver(const std::string &text);

/**
 * Solves A x = b by factors of A, and recomputes the residual: on the host by UMFPACK, on one core,
 * and on a CUDA device by cuDSS.
 *
 * Use: reference solutions and small systems; in 3D, from about 1e5 rows on, the factors do not fit
 * into memory. Cost: the factorisation, which new values with an old pattern repeat without the
 * analysis of the pattern. Fails: outcome breakdown if the matrix is singular; stagnated if the
 * estimated error of x exceeds largest_forward_error.
 */
class DirectSolver
{
public:
  /// @throws ParameterError if the program was built without UMFPACK and @p executor is the host
  /// @throws DeviceError if @p executor is a CUDA device and cuDSS 1.0 cannot be loaded
  explicit DirectSolver(ExecutorPtr executor);

  /**
   * Factorises @p A, whose arrays must remain valid until the next call.
   * @param same_pattern A has the pattern of the previous matrix
   * @throws the exceptions of Factors::factorise()
   */
  void set_matrix(const HostCsr &A, bool same_pattern);

  /// Solves A x = b; @p b and @p x are in host memory. x contains the initial guess, which remains
  /// unchanged if A is singular.
  SolveReport solve(const double *b, double *x, const SolveControl &control);

  /// Frees the factors.
  void release();

private:
  SolveReport solve_scaled(const double *b, double *x, const SolveControl &control);
  SolveReport solve_once(const double *b, double *x, double target, bool from_guess);

  ExecutorPtr executor;
  std::unique_ptr<Factors> factors;
  HostCsr A;
  double setup_seconds = 0.; ///< since the last solve
};

/// Solves A x = b by the direct solver of @p executor or, if this solver is unavailable or fails,
/// on the host.
/// @throws the exceptions of DirectSolver on the host
SolveReport solve_direct(const ExecutorPtr &executor, const HostCsr &A, const double *b, double *x,
                         const SolveControl &control);
} // namespace femgpu::linalg

#endif
