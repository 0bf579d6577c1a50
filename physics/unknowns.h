#ifndef femgpu_physics_unknowns_h
#define femgpu_physics_unknowns_h

#include "linalg/dealii/group_system.h"
#include "physics/base/solver_parameters.h"
#include "physics/problem.h"

namespace femgpu
{
/**
 * Collective. Stores data on the unknowns, for the preconditioner, in @p system, which has the
 * pattern of @p discretization. Computes only the data that @p required selects.
 *
 * Prolongations P interpolate unknowns of degree p from unknowns of degree p/2, and so on down to
 * degree 1. Further prolongations interpolate linear elements from coarser meshes, as long as cells
 * result from refinement. P = I C_H, with the interpolation I on each cell and the constraints C_H
 * of the coarser space. Rows of constrained unknowns are zero, except that each constrained coarser
 * unknown is interpolated to one constrained unknown. Thus constrained unknowns are decoupled with
 * a positive diagonal, in A and in PᵀAP.
 */
template <int dim>
void describe_unknowns(const Problem<dim> &problem, const Discretization<dim> &discretization,
                       RequiredDofData required, linalg::GroupSystem &system);
} // namespace femgpu

#endif
