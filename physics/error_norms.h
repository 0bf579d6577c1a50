#ifndef femgpu_physics_error_norms_h
#define femgpu_physics_error_norms_h

#include "physics/discretization.h"
#include "physics/problem.h"
#include "physics/results.h"

namespace femgpu
{
/**
 * Collective. Of @p problem, which knows its exact solution.
 * @param u with ghost values
 * @param flux_error if it is not nullptr, gets the norm in L2 of σ(∇u) − σ(∇u_exact), which the
 *        estimates of errors stand for
 */
template <int dim>
ErrorNorms compute_errors(const Problem<dim> &problem, const Discretization<dim> &discretization,
                          const FeVector &u, double *flux_error);
} // namespace femgpu

#endif
