#ifndef femgpu_physics_unknowns_h
#define femgpu_physics_unknowns_h

#include "linalg/dealii/group_system.h"
#include "physics/base/solver_parameters.h"
#include "physics/problem.h"

namespace femgpu
{
/**
 * Collective. Tells @p system, which has the pattern of @p discretization, of its unknowns.
 *
 * Those of degree p are given by those of degree p/2, and so on down to 1, and those by linear
 * elements on coarser and coarser meshes, as far as cells come from refinement: P = I C_H with the
 * interpolation I on each cell and the constraints C_H of the coarser space. Rows of constrained
 * unknowns are zero, but each coarser one that is constrained is one of them: they all stand alone
 * with a positive diagonal, in A and so in PᵀAP.
 */
template <int dim>
void describe_unknowns(const Problem<dim> &problem, const Discretization<dim> &discretization,
                       WantedOfUnknowns wanted, linalg::GroupSystem &system);
} // namespace femgpu

#endif
