#ifndef femgpu_physics_periodic_constraints_h
#define femgpu_physics_periodic_constraints_h

#include "physics/discretization.h"
#include "physics/mesh/periodicity.h"

#include <deal.II/lac/affine_constraints.h>

#include <vector>

namespace femgpu
{
/// Collective. Adds constraints that make the values on both sides of each pair equal.
/// @pre @p constraints contains the constraints of hanging nodes
template <int dim>
void add_periodic_constraints(const Discretization<dim> &discretization,
                              const std::vector<PeriodicSides> &sides,
                              dealii::AffineConstraints<double> &constraints);
} // namespace femgpu

#endif
