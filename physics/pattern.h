#ifndef femgpu_physics_pattern_h
#define femgpu_physics_pattern_h

#include "linalg/dealii/group_system.h"
#include "physics/discretization.h"

namespace femgpu
{
/**
 * Collective. Gives @p system the sparsity pattern of the discretisation: the couplings within
 * cells, with hanging nodes, periodic sides and Dirichlet dofs eliminated.
 */
template <int dim>
void make_pattern(const Discretization<dim> &discretization, linalg::GroupSystem &system);
} // namespace femgpu

#endif
