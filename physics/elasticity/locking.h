#ifndef femgpu_physics_locking_h
#define femgpu_physics_locking_h

#include "physics/discretization.h"
#include "physics/elasticity/elastic_materials.h"

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Warnings of elements of degree 1 that are too stiff: for materials that are nearly incompressible
 * (volumetric locking; not in plane stress), and, on quadrilaterals and hexahedra, in slender
 * bodies that bend (shear locking). Of a mesh that is not refined yet.
 * @param refinements of all cells until the last cycle
 */
template <int dim>
std::vector<std::string> locking_warnings(const Discretization<dim> &discretization,
                                          const ElasticMaterials<dim> &materials,
                                          unsigned int refinements);
} // namespace femgpu

#endif
