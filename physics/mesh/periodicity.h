#ifndef femgpu_physics_periodicity_h
#define femgpu_physics_periodicity_h

#include "physics/mesh/mesh.h"

#include <deal.II/base/types.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Periodic sides. deal.II handles quadrilaterals and hexahedra, but does not match the faces of
 * triangles and tetrahedra. In meshes of triangles or tetrahedra, a rank may also lack the dofs on
 * the opposite side. Therefore the nodes of these meshes are matched by their coordinates.
 */
namespace femgpu
{
/// Two boundaries on which the solution is equal. The second is a translation of the first along an
/// axis.
struct PeriodicSides
{
  dealii::types::boundary_id first, second;
  unsigned int direction; ///< 0 for x, 1 for y, 2 for z
};

/**
 * Parses "id, id: axis; ...": pairs of boundary ids or names, and the axis, x, y or z, along which
 * the second side is a translation of the first.
 * @throws ParameterError on a syntax error, or if a boundary id occurs twice
 */
std::vector<PeriodicSides> parse_periodic_sides(const std::string &path, const std::string &text,
                                                unsigned int dim, const MeshRegions &regions);

/// Checks that each pair of @p sides of the coarse @p mesh matches. @throws ParameterError with the
/// location of a vertex or face that has no partner
template <int dim>
void require_matching_sides(const std::string &path, const Mesh<dim> &mesh,
                            const std::vector<PeriodicSides> &sides);

/// Returns the pairs of vertices of the coarse @p mesh that periodic @p sides identify.
/// @pre the sides match
template <int dim>
std::vector<std::pair<unsigned int, unsigned int>>
periodic_vertices(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides);

/// Checks that periodic sides have no conditions. @throws ParameterError if a side is one of the
/// boundary ids @p ids that the parameter @p other_path names
void reject_conditions_on(const std::string &path, const std::vector<PeriodicSides> &sides,
                          const std::string &other_path,
                          const std::set<dealii::types::boundary_id> &ids);

/// Collective. Makes cells at opposite @p sides neighbours, so that the sides match after
/// refinement too. Does nothing for triangles and tetrahedra. @pre the mesh is not refined yet
template <int dim>
void make_periodic(Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides);
} // namespace femgpu

#endif
