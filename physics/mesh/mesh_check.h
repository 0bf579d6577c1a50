#ifndef femgpu_physics_mesh_check_h
#define femgpu_physics_mesh_check_h

#include "physics/mesh/mesh.h"

#include <deal.II/base/quadrature.h>
#include <deal.II/base/types.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/**
 * Checks that cells with straight edges are not inverted, degenerate or folded onto a neighbour:
 * the determinant of the Jacobian must be positive at Gauss points and vertices, and neighbours
 * must lie on different sides of their common face.
 * @param locations for each cell, the beginning of messages about it
 * @throws InputError if a cell is inverted, degenerate or folded
 */
template <int dim>
void check_straight_cells(const dealii::Triangulation<dim> &coarse,
                          const std::vector<std::string> &locations);

/**
 * Checks that the nodes of second order in a mesh file do not invert cells.
 * @param locations for each cell, the beginning of messages about it
 * @throws InputError if a cell is inverted or degenerate
 */
template <int dim>
void check_quadratic_cells(const dealii::Triangulation<dim> &coarse,
                           const std::vector<std::string> &locations);

/**
 * Collective. Checks that the mapping of cells on a mesh with curved sides is invertible at the
 * points of @p gauss and at the vertices. Does nothing for meshes without curved sides, for which
 * checking the coarse mesh suffices.
 * @param degree degree of the mapping, for messages
 * @throws InputError on all ranks if the mapping is not invertible in a cell of any rank
 */
template <int dim>
void check_curved_cells(const Mesh<dim> &mesh, const dealii::Mapping<dim> &mapping,
                        const dealii::Quadrature<dim> &gauss, unsigned int degree);

/**
 * Checks that every boundary id of a mesh file, other than 0, occurs in a condition or in
 * Mesh/Natural boundaries. An id that occurs in neither was probably forgotten.
 * @param of_conditions for each parameter that sets conditions, the boundary ids that it names
 * @throws ParameterError if an id occurs in neither, and Mesh/Natural boundaries is not 'all'
 */
template <int dim>
void check_named_boundaries(
    const MeshParameters &parameters, const Mesh<dim> &mesh,
    const std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>> &of_conditions);

/**
 * Returns a warning if sides of @p mesh look like the facets of a curved surface: they have no
 * manifold, and their normals turn by 1 to 40 degrees in the same sense at two or more successive
 * edges. Refinement would keep these corners, where stresses may be singular. Returns an empty
 * string if there are no such sides.
 * @pre the mesh is not refined yet
 */
template <int dim>
std::string warning_of_faceted_sides(const Mesh<dim> &mesh);
} // namespace femgpu

#endif
