#ifndef femgpu_linalg_solvers_rounding_h
#define femgpu_linalg_solvers_rounding_h

#include "linalg/base/host_matrix.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/solvers/backward_error.h"
#include "linalg/solvers/report.h"

#include <functional>
#include <vector>

namespace femgpu::linalg
{
/// Returns the row space of a matrix in host memory, with its ghosts. Collective over all ranks.
/// @param communicator connects the ranks if rows are distributed; nullptr: this rank has all rows
RowSpacePtr host_rows(const HostCsr &A, const CommunicatorPtr &communicator = nullptr);

/// Computes the norms and backward errors of x for a system in host memory, with n_loop_threads()
/// threads. Collective over all ranks.
/// @param rows row space of A
/// @param r n elements, receives b − A x; nullptr: not needed
SystemNorms measure(const RowSpace &rows, const HostCsr &A, const double *b, const double *x,
                    double *r = nullptr);

/// Computes the norms and backward errors of x for a system in host memory that is not distributed.
SystemNorms measure(const HostCsr &A, const double *b, const double *x, double *r = nullptr);

/// Returns the number of entries of the longest row; 0 if there are no rows.
int longest_row(const HostCsr &A);

/**
 * Returns the largest backward error that is due to rounding alone if rows of A have up to
 * @p longest_row entries: 8 √m u with u = 2⁻⁵³, because rounding errors in the sum of a row
 * accumulate like random numbers.
 */
double rounding_level(int longest_row);

/// Callbacks with which refine_to_rounding() continues a solve.
struct RefinementCallbacks
{
  /// Solves A d = r from d = 0 to a relative @p tolerance.
  std::function<SolveReport(const Vector<double> &r, Vector<double> &d, double tolerance)>
      solve_correction;
  /// Continues to solve A x = b, from @p x, to the target in the report.
  std::function<SolveReport(Vector<double> &x)> resume;
};

/**
 * Decides whether a solve that missed its target has failed: if |A||x| ≫ |b|, rounding alone may
 * keep ‖b − A x‖ above its target. The outcome becomes `converged_to_rounding` if the backward
 * error of x is at rounding level, a step of iterative refinement, x + d with A d = b − A x, does
 * not halve the residual, and the estimated error of x, ‖d‖/‖x‖, is at most largest_forward_error.
 * If the step does halve the residual, the method continues from there. The outcome of a solve that
 * was stopped early does not change. (Higham 2002, §7.1 and §12.)
 * Collective over all ranks.
 * @param A, b, x the system before scaling, in the memory of any executor
 * @param report contains backward_error; receives forward_error
 */
void refine_to_rounding(const CsrMatrix &A, const Vector<double> &b, Vector<double> &x,
                        SolveReport &report, const RefinementCallbacks &callbacks);

/// Computes the norms and backward errors of x. Collective over all ranks.
/// @param r receives b − A x; nullptr: not needed
SystemNorms measure(const CsrMatrix &A, const Vector<double> &b, const Vector<double> &x,
                    Vector<double> *r = nullptr);

/// Returns whether rounding alone may be the reason that a solve with this outcome has failed.
/// @param level result of rounding_level()
bool may_be_rounding(Outcome outcome, double backward_error, double level);

/// Returns the tolerance to which a correction is solved. The components of the smallest
/// eigenvalues contain most of the error, but may have no more than an average share of the
/// residual; the tolerance is small enough to resolve them.
/// @param n global number of rows
double correction_tolerance(long long n);

/// Returns whether @p step, a solve to correction_tolerance(), is accurate enough to determine the
/// size of a correction, even if rounding has ended it early.
bool is_resolved(const SolveReport &step);

/// Largest estimate of ‖x − A⁻¹b‖/‖x‖ that is accepted.
constexpr double largest_forward_error = 1e-3;
} // namespace femgpu::linalg

#endif
