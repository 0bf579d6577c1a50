#ifndef femgpu_physics_angular_sides_h
#define femgpu_physics_angular_sides_h

#include "physics/mesh/mesh.h"

#include <string>

namespace femgpu
{
/**
 * A warning of sides of @p mesh, which is not refined yet, that look as if they were meant to be
 * curved: no manifold is known of them, and faces turn by 1 to 40 degrees in the same sense at two
 * edges or more that follow each other. Refinement keeps their corners, where stresses grow. Empty
 * if there are none.
 */
template <int dim>
std::string warning_of_angular_sides(const Mesh<dim> &mesh);
} // namespace femgpu

#endif
