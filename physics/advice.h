#ifndef femgpu_physics_advice_h
#define femgpu_physics_advice_h

#include "linalg/solvers/report.h"

#include <cstddef>
#include <string>

/**
 * @file
 * Advice to users after a failed solve.
 */
namespace femgpu
{
/// Returns whether a nonlinear solve probably failed because no solution exists. A residual at
/// rounding level calls for another tolerance, not for another problem.
bool indicates_no_solution(const linalg::SolveReport &report);

/// Returns whether the system is indefinite and boundary data may grow with u.
bool is_unstable(const linalg::SolveReport &report, const bool may_be_unstable);

/// Returns advice for a failure of the linear solver; empty if there is none.
std::string advice(const linalg::SolveReport &report, const std::size_t n_rows,
                   const bool falls_back, const bool is_one_group, const bool may_be_unstable);
} // namespace femgpu

#endif
