#ifndef femgpu_physics_error_norms_h
#define femgpu_physics_error_norms_h

#include "physics/discretization.h"
#include "physics/problem.h"
#include "physics/results.h"

namespace femgpu
{
/**
 * Collective. Computes norms of the error of @p u.
 * @pre @p problem has an exact solution
 * @param u the finite element function, with ghost values
 * @param flux_error set to the L2 norm of σ(∇u) − σ(∇u_exact), which error estimates approximate;
 * may be nullptr
 */
template <int dim>
ErrorNorms compute_errors(const Problem<dim> &problem, const Discretization<dim> &discretization,
                          const FeVector &u, double *flux_error);
} // namespace femgpu

#endif
