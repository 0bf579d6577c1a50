#ifndef femgpu_physics_sides_file_h
#define femgpu_physics_sides_file_h

#include "physics/mesh/mesh.h"

#include <string>

namespace femgpu
{
/**
 * Collective. Writes the boundary faces and inner sides of the coarse mesh, which are straight, to
 * DIRECTORY/sides.vtu, with their ids in the array `boundary_id`.
 * @return a sentence with the name of the file
 * @throws OutputError on all ranks if the file cannot be written
 */
template <int dim>
std::string write_sides(const Mesh<dim> &mesh, const std::string &directory);
} // namespace femgpu

#endif
