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
 * Periodic sides. Quadrilaterals and hexahedra are deal.II's business. It does not pair triangles,
 * and of these a rank may not have the dofs beyond a side: there nodes are paired by place.
 */
namespace femgpu
{
/// Two parts of the boundary on which the solution is the same: the second is the first, moved
/// along an axis.
struct PeriodicSides
{
  dealii::types::boundary_id first, second;
  unsigned int direction; ///< 0 for x, 1 for y, 2 for z
};

/**
 * Reads "id, id: axis; ...": pairs of boundary ids or names, and the axis, x, y or z, along which
 * the second side is the first one moved.
 * @throws ParameterError for anything else, and for an id that comes twice
 */
std::vector<PeriodicSides> parse_periodic_sides(const std::string &path, const std::string &text,
                                                unsigned int dim, const MeshRegions &regions);

/// @throws ParameterError with the place where sides of the coarse @p mesh do not match.
template <int dim>
void require_matching_sides(const std::string &path, const Mesh<dim> &mesh,
                            const std::vector<PeriodicSides> &sides);

/// Pairs of vertices of the coarse @p mesh that are the same; the sides match.
template <int dim>
std::vector<std::pair<unsigned int, unsigned int>>
periodic_vertices(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides);

/// @throws ParameterError if a side has data of parameter @p other_path, for @p ids, too.
void refuse_data_on(const std::string &path, const std::vector<PeriodicSides> &sides,
                    const std::string &other_path, const std::set<dealii::types::boundary_id> &ids);

/// Collective. Tells @p mesh, which is not refined yet, that sides are neighbours: refinement keeps
/// them alike.
template <int dim>
void make_periodic(Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides);
} // namespace femgpu

#endif
