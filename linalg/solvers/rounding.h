#ifndef femgpu_linalg_solvers_rounding_h
#define femgpu_linalg_solvers_rounding_h

#include "linalg/base/host_matrix.h"
#include "linalg/solvers/backward_error.h"
#include "linalg/solvers/report.h"

#include <functional>
#include <vector>

namespace femgpu::linalg
{
/// The rows of a matrix in host memory, with its ghosts. @param communicator of a part; nullptr:
/// all are here. Is called by all parts
RowSpacePtr host_rows(const HostCsr &A, const CommunicatorPtr &communicator = nullptr);

/// What measure() says of a system in host memory, by n_loop_threads() threads. Is called by
/// all parts. @param rows of A. @param r n elements, gets b − A x; nullptr: not wanted
SystemNorms measure(const RowSpace &rows, const HostCsr &A, const double *b, const double *x,
                    double *r = nullptr);

/// The same where all rows are here.
SystemNorms measure(const HostCsr &A, const double *b, const double *x, double *r = nullptr);

/// Entries of it; 0 without rows.
int longest_row(const HostCsr &A);

/**
 * The largest backward error that is rounding alone, where rows of A have up to @p longest_row
 * entries: 8 √m u with u = 2⁻⁵³, as rounding errors of a row's sum add up like random numbers.
 */
double rounding_level(int longest_row);

/// How a method goes on with a system that it has solved before; pointers are host memory.
struct Resolve
{
  /// Solves A d = r from d = 0 to a relative @p tolerance.
  std::function<SolveReport(const double *r, double *d, double tolerance)> correct;
  /// Solves A x = b again, from x, to the target that the report has.
  std::function<SolveReport(double *x)> again;
};

/**
 * Decides whether a solve that could not reach its target has failed: where |A||x| ≫ |b|, rounding
 * alone leaves more of ‖b − A x‖ than was asked for. The outcome becomes `converged_to_rounding` if
 * the backward error of x is that of rounding, a step of iterative refinement, x + d with A d =
 * b − A x, does not halve the residual, and ‖d‖/‖x‖, the estimate of x's own error, is at most
 * largest_forward_error. Where the step does halve the residual, the method goes on from there. A
 * solve that was stopped early stays what it was. (Higham 2002, §7.1 and §12.)
 * Is called by all parts.
 * @param rows of A
 * @param A, b, x the system before scaling
 * @param report with its backward_error; gets forward_error
 */
void settle_at_rounding(const RowSpace &rows, const HostCsr &A, const double *b, double *x,
                        SolveReport &report, const Resolve &resolve);

/// May rounding be all that has kept a solve with this outcome from its target? @p level as
/// rounding_level() says
bool may_be_rounding(Outcome outcome, double backward_error, double level);

/// A tolerance to which even the components of a correction are resolved that have no more of the
/// residual than all others: those of the smallest eigenvalues, in which most of the error is.
/// @param n rows of all parts
double correction_tolerance(long long n);

/// Does @p step, a solve to that tolerance, tell the size of a correction? Rounding may end it
/// before.
bool is_resolved(const SolveReport &step);

/// Largest estimate of ‖x − A⁻¹b‖/‖x‖ of what is called a solution.
constexpr double largest_forward_error = 1e-3;
} // namespace femgpu::linalg

#endif
