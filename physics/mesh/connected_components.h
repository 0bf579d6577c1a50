#ifndef femgpu_physics_mesh_connected_components_h
#define femgpu_physics_mesh_connected_components_h

#include "physics/mesh/mesh.h"
#include "physics/mesh/periodicity.h"

#include <set>
#include <string>
#include <vector>

namespace femgpu
{
/// A connected component of a mesh: its cells share no vertex and no periodic side with cells of
/// other components.
template <int dim>
struct ConnectedComponent
{
  dealii::Point<dim> location; ///< the center of its first cell
  std::set<dealii::types::boundary_id> boundary_ids;
  std::set<dealii::types::material_id> material_ids;
  std::vector<typename dealii::Triangulation<dim>::cell_iterator> cells; ///< its coarse cells

  /// Returns a description: "around (0.5 0.5), with the boundary ids 1, 2".
  std::string text() const;
};

/// Returns the connected components of @p mesh in the order of their first cells.
/// @pre the mesh is not refined yet
template <int dim>
std::vector<ConnectedComponent<dim>> connected_components(const Mesh<dim> &mesh,
                                                          const std::vector<PeriodicSides> &sides);

/// The regions whose conditions determine a scalar solution completely, not only up to a constant.
struct DeterminingRegions
{
  std::set<dealii::types::boundary_id> boundary_ids;
  std::set<dealii::types::material_id> material_ids;
  std::string parameters; ///< parameters that name them: "Poisson/Dirichlet or Poisson/Robin"
};

/**
 * If @p mesh has several connected components, checks that each contains one of the boundaries or
 * materials listed in @p determining.
 * @throws ParameterError for parameter @p path if a component has none of these regions, so that
 * its solution would be determined only up to a constant
 */
template <int dim>
void require_constrained_components(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides,
                                    const DeterminingRegions &determining, const std::string &path);
} // namespace femgpu

#endif
