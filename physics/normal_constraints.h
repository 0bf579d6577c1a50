#ifndef femgpu_physics_normal_constraints_h
#define femgpu_physics_normal_constraints_h

#include "physics/discretization.h"

#include <deal.II/base/types.h>
#include <deal.II/lac/affine_constraints.h>

#include <set>

namespace femgpu
{
/**
 * Adds u·n = 0 on the plane faces of the parts @p planes of the boundary, for a vector-valued u, to
 * @p constraints, which have hanging nodes and Dirichlet data already and are not closed. Where
 * several planes meet, all their normals count; components that are given keep their values.
 * Constraints of axis-parallel planes have no entries. Complete for the dofs that this rank owns.
 *
 * VectorTools::compute_no_normal_flux_constraints() leaves out a dof that has Dirichlet data, and
 * with it the condition on the other components of an oblique plane there.
 */
template <int dim>
void add_normal_constraints(const Discretization<dim> &discretization,
                            const std::set<dealii::types::boundary_id> &planes,
                            dealii::AffineConstraints<double> &constraints);
} // namespace femgpu

#endif
