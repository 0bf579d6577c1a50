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
 * @param locations for each cell the beginning of the message
 * @throws InputError
 */
template <int dim>
void check_straight_cells(const dealii::Triangulation<dim> &coarse,
                          const std::vector<std::string> &locations);

/**
 * Checks that the nodes of second order in a mesh file do not invert cells.
 * @param locations for each cell the beginning of the message
 * @throws InputError
 */
template <int dim>
void check_quadratic_cells(const dealii::Triangulation<dim> &coarse,
                           const std::vector<std::string> &locations);

/**
 * Collective. Checks that the mapping of cells on a mesh with curved sides is invertible at the
 * points of @p gauss and at the vertices. Does nothing for meshes without curved sides, for which
 * checking the coarse mesh suffices.
 * @param degree of the mapping, for the message
 * @throws InputError on all ranks
 */
template <int dim>
void check_curved_cells(const Mesh<dim> &mesh, const dealii::Mapping<dim> &mapping,
                        const dealii::Quadrature<dim> &gauss, unsigned int degree);

/**
 * Checks that every boundary id of a mesh file, other than 0, occurs in a condition or in
 * Mesh/Natural boundaries. Others were probably forgotten.
 * @param of_conditions parameters with the boundary ids that they refer to
 * @throws ParameterError if an id occurs in neither
 */
template <int dim>
void check_named_boundaries(
    const MeshParameters &parameters, const Mesh<dim> &mesh,
    const std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>> &of_conditions);

/**
 * Returns a warning if sides of @p mesh look like the facets of a curved surface: they have no
 * manifold, and the faces turn by 1 to 40 degrees in the same sense at two or more successive
 * edges. Refinement would keep these corners, where stresses grow. Empty if there are no such
 * sides.
 * @pre the mesh is not refined yet
 */
template <int dim>
std::string warning_of_faceted_sides(const Mesh<dim> &mesh);
} // namespace femgpu

#endif
