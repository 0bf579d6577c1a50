#ifndef femgpu_physics_mesh_check_h
#define femgpu_physics_mesh_check_h

#include "physics/discretization.h"
#include "physics/problem.h"

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * Refuses cells with straight edges that are inverted, degenerate or folded onto a neighbour: the
 * determinant of the Jacobian is to be positive at Gauss points and vertices, and neighbours are to
 * lie on different sides of their face.
 * @param places the beginning of the message for each cell
 * @throws InputError
 */
template <int dim>
void check_straight_cells(const dealii::Triangulation<dim> &coarse,
                          const std::vector<std::string> &places);

/**
 * Refuses cells of a mesh file of second order whose nodes curve them so that they are inverted.
 * @param places the beginning of the message for each cell
 * @throws InputError
 */
template <int dim>
void check_quadratic_cells(const dealii::Triangulation<dim> &coarse,
                           const std::vector<std::string> &places);

/**
 * Collective. Refuses cells of a mesh with curved sides whose mapping, of the degree of the
 * elements, is not invertible at a Gauss point or a vertex. Does nothing for meshes without curved
 * sides, for which it suffices to check the coarse mesh.
 * @throws InputError on all ranks
 */
template <int dim>
void check_curved_cells(const Discretization<dim> &discretization);

/**
 * Refuses boundary ids of a mesh file, other than 0, that neither @p problem nor Mesh/Natural
 * boundaries names: most of them were forgotten.
 * @throws ParameterError
 */
template <int dim>
void check_named_boundaries(const MeshParameters &parameters, const Mesh<dim> &mesh,
                            const Problem<dim> &problem);

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
