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
 * Periodic sides. deal.II handles quadrilaterals and hexahedra. It does not match the faces of
 * triangles and tetrahedra, and a rank may lack the dofs beyond a side of such meshes, so their
 * nodes are matched by coordinates.
 */
namespace femgpu
{
/// Two boundaries on which the solution is equal. The second is the first one, translated along an
/// axis.
struct PeriodicSides
{
  dealii::types::boundary_id first, second;
  unsigned int direction; ///< 0 for x, 1 for y, 2 for z
};

/**
 * Parses "id, id: axis; ...": pairs of boundary ids or names, and the axis, x, y or z, along which
 * the second side is a translation of the first.
 * @throws ParameterError on a syntax error, and if an id is repeated
 */
std::vector<PeriodicSides> parse_periodic_sides(const std::string &path, const std::string &text,
                                                unsigned int dim, const MeshRegions &regions);

/// Checks that sides of the coarse @p mesh match. @throws ParameterError with the location where
/// they do not
template <int dim>
void require_matching_sides(const std::string &path, const Mesh<dim> &mesh,
                            const std::vector<PeriodicSides> &sides);

/// Returns pairs of vertices of the coarse @p mesh that are identified. @pre the sides match
template <int dim>
std::vector<std::pair<unsigned int, unsigned int>>
periodic_vertices(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides);

/// @throws ParameterError if a side is among the @p ids of parameter @p other_path
void reject_conditions_on(const std::string &path, const std::vector<PeriodicSides> &sides,
                          const std::string &other_path,
                          const std::set<dealii::types::boundary_id> &ids);

/// Collective. Makes the sides of @p mesh neighbours, so that refinement keeps them matching.
/// @pre the mesh is not refined yet
template <int dim>
void make_periodic(Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides);
} // namespace femgpu

#endif
