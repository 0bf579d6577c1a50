#ifndef femgpu_physics_mesh_check_h
#define femgpu_physics_mesh_check_h

#include "physics/mesh/inverted_cells.h"
#include "physics/mesh/mesh.h"
#include "physics/mesh/mesh_table.h"

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
 * Collective. Checks that cells with straight edges are not inverted, degenerate or folded onto a
 * neighbour: the determinant of the Jacobian must be positive at Gauss points, and neighbours must
 * lie on different sides of their common face.
 * @param coarse the same mesh on all ranks
 * @param locations for each cell, the beginning of messages about it
 * @param directory directory for a file of inverted cells (inverted_cells.h)
 * @return a warning if cells are inverted at vertices; else an empty string
 * @throws InputError if a cell is inverted, degenerate or folded
 */
template <int dim>
std::string check_straight_cells(const dealii::Triangulation<dim> &coarse,
                                 const std::vector<std::string> &locations,
                                 const std::string &directory, MPI_Comm communicator);

/// Returns the cells that are inverted with their nodes of second order.
template <int dim>
InvertedCells find_inverted_quadratic_cells(const dealii::Triangulation<dim> &coarse);

/**
 * Collective. Checks that the nodes of second order in a mesh file do not invert cells. The
 * arguments and results are those of check_straight_cells().
 * @param found result of find_inverted_quadratic_cells()
 */
template <int dim>
std::string check_quadratic_cells(InvertedCells found, const std::vector<std::string> &locations,
                                  const std::string &directory, MPI_Comm communicator);

/// Removes the nodes of second order of @p inverted cells from @p table, also from neighbours, so
/// that their edges and faces become straight. Returns whether there were any.
bool straighten_cells(const InvertedCells &inverted, MeshTable &table);

/**
 * Collective. Checks that the mapping of cells is invertible at the points of @p gauss on a mesh
 * with curved sides, or with cells that are inverted at vertices. Does nothing for other meshes,
 * for which checking the coarse mesh suffices.
 * @param degree degree of the elements, for messages
 * @return a warning if cells are inverted at vertices, unless there was one for the coarse mesh
 * @throws InputError on all ranks if the mapping is not invertible in a cell of any rank
 */
template <int dim>
std::string check_curved_cells(const Mesh<dim> &mesh, const dealii::Mapping<dim> &mapping,
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
