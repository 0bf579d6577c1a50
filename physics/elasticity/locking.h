#ifndef femgpu_physics_locking_h
#define femgpu_physics_locking_h

#include "physics/discretization.h"
#include "physics/elasticity/elastic_materials.h"

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Returns warnings if elements of degree 1 are too stiff: for nearly incompressible materials
 * (volumetric locking; not in plane stress), and for slender bodies of quadrilaterals or hexahedra,
 * which may be bent (shear locking).
 * @param refinements number of global refinements until the last cycle
 * @pre the mesh is not refined yet
 */
template <int dim>
std::vector<std::string> locking_warnings(const Discretization<dim> &discretization,
                                          const ElasticMaterials<dim> &materials,
                                          unsigned int refinements);
} // namespace femgpu

#endif
