#ifndef femgpu_physics_normal_constraints_h
#define femgpu_physics_normal_constraints_h

#include "physics/discretization.h"

#include <deal.II/base/types.h>
#include <deal.II/lac/affine_constraints.h>

#include <set>

namespace femgpu
{
/**
 * Adds the constraints u·n = 0 on the plane faces of the boundaries @p planes, for a vector-valued
 * u. If several planes meet, all of their normals apply. Prescribed components keep their values.
 * Constraints of planes normal to an axis have no entries, because they fix one component. The
 * result is complete for the dofs that this rank owns.
 * @pre @p constraints contains hanging nodes and Dirichlet data and is not closed
 *
 * VectorTools::compute_no_normal_flux_constraints() is unsuitable: it skips dofs with Dirichlet
 * data, and thus the condition on the other components of these nodes in oblique planes.
 */
template <int dim>
void add_normal_constraints(const Discretization<dim> &discretization,
                            const std::set<dealii::types::boundary_id> &planes,
                            dealii::AffineConstraints<double> &constraints);
} // namespace femgpu

#endif
