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
 * Collective. Refuses cells of a mesh with curved sides whose mapping is not invertible at a point
 * of @p gauss or a vertex. Does nothing for meshes without curved sides, for which it suffices to
 * check the coarse mesh.
 * @param degree of the mapping, for the message
 * @throws InputError on all ranks
 */
template <int dim>
void check_curved_cells(const Mesh<dim> &mesh, const dealii::Mapping<dim> &mapping,
                        const dealii::Quadrature<dim> &gauss, unsigned int degree);

/**
 * Refuses boundary ids of a mesh file, other than 0, that neither a condition nor Mesh/Natural
 * boundaries names: most of them were forgotten.
 * @param of_conditions parameters with the boundary ids that they name
 * @throws ParameterError
 */
template <int dim>
void check_named_boundaries(
    const MeshParameters &parameters, const Mesh<dim> &mesh,
    const std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>> &of_conditions);

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
