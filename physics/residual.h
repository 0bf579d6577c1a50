#ifndef femgpu_physics_residual_h
#define femgpu_physics_residual_h

#include "physics/problem.h"

namespace femgpu
{
/**
 * Collective. The residual f + λ W φ(u) − K u of every dof, hanging nodes eliminated but Dirichlet
 * data not: zero at free dofs as far as the system was solved. At dofs with Dirichlet data it is
 * minus the reaction: the force of a support, or the flux that enters, in the weak sense, so that
 * reactions balance the loads to rounding.
 * @param u has ghost values
 * @return with ghost values
 */
template <int dim>
FeVector nodal_residual(const Problem<dim> &problem, const Discretization<dim> &discretization,
                        const FeVector &u);
} // namespace femgpu

#endif
