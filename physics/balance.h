#ifndef femgpu_physics_balance_h
#define femgpu_physics_balance_h

#include "linalg/solvers/report.h"
#include "physics/residual.h"

#include <functional>

namespace femgpu
{
/// The largest permitted imbalance of a converged solution, relative to Balance::magnitude.
constexpr double largest_balance_defect = 1e-3;

/**
 * Collective. Checks the balance of a converged solution. A residual that is small in the norm of
 * the solver may be large relative to the flows if coefficients jump, or if data are much larger
 * than their differences. The imbalance is Balance::defect if the solver stops at an energy error,
 * else Balance::residual. While it exceeds largest_balance_defect times Balance::magnitude, the
 * solver continues with a smaller target, up to three times. If the balance is still violated, the
 * outcome becomes `not_balanced`, or `converged_to_rounding` if rounding explains the imbalance,
 * and the message of @p report describes the imbalance.
 *
 * Problems with a fixed mean are not checked: their balance depends only on the data.
 * @param solution the solution that @p report describes; each further solve changes it and discards
 * its evaluation
 * @param resume continues the solve, with the target multiplied by @p factor; nullptr if the solver
 * cannot continue
 */
template <int dim>
void require_balance(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                     linalg::SolveReport &report,
                     const std::function<linalg::SolveReport(double factor)> &resume);
} // namespace femgpu

#endif
