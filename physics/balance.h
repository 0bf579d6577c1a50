#ifndef femgpu_physics_balance_h
#define femgpu_physics_balance_h

#include "linalg/solvers/report.h"
#include "physics/residual.h"

#include <functional>

namespace femgpu
{
/// The largest part of what flows that may be missing in a solution that is called converged.
constexpr double largest_balance_defect = 1e-3;

/**
 * Collective. Checks the balance of a converged solution. A residual that is small in the norm of
 * the solver may still be large against what flows, where coefficients jump or data are much larger
 * than their differences. While the residuals of the free dofs add up to more than
 * largest_balance_defect of all loads and reactions, the solver goes on with a smaller target, up
 * to three times. If they still do, the outcome becomes `not_balanced`, or `converged_to_rounding`
 * where rounding explains it; the message says so.
 *
 * Problems with a fixed mean are not checked: their balance depends on the data alone.
 * @param solution of the report; forgets its evaluation with each further solve
 * @param solve_on solves again from u, with the target times the given factor; nullptr if the
 *        solver cannot
 */
template <int dim>
void require_balance(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                     linalg::SolveReport &report,
                     const std::function<linalg::SolveReport(double factor)> &solve_on);
} // namespace femgpu

#endif
