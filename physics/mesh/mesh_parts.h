#ifndef femgpu_physics_mesh_mesh_parts_h
#define femgpu_physics_mesh_mesh_parts_h

#include "physics/mesh/mesh.h"
#include "physics/mesh/periodicity.h"

#include <set>
#include <string>
#include <vector>

namespace femgpu
{
/// Cells of a mesh that have no vertex in common with the others, and no periodic side.
template <int dim>
struct MeshPart
{
  dealii::Point<dim> place; ///< in the middle of one of its cells
  std::set<dealii::types::boundary_id> boundary_ids;
  std::set<dealii::types::material_id> material_ids;
  std::vector<typename dealii::Triangulation<dim>::cell_iterator> cells; ///< of the coarse mesh

  /// "around (0.5 0.5), with the boundary ids 1, 2"
  std::string text() const;
};

/// The parts of @p mesh, which is not refined yet, in the order of their first cells.
template <int dim>
std::vector<MeshPart<dim>> parts_of(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides);

/// What holds a scalar solution, so that it is not known up to a constant only.
struct Holds
{
  std::set<dealii::types::boundary_id> boundary_ids;
  std::set<dealii::types::material_id> material_ids;
  std::string parameters; ///< "Poisson/Dirichlet or Poisson/Robin": where they are named
};

/**
 * @throws ParameterError of parameter @p path if @p mesh has several parts and @p holds has nothing
 *         on one of them: there the solution is known up to a constant of its own
 */
template <int dim>
void require_held_parts(const Mesh<dim> &mesh, const std::vector<PeriodicSides> &sides,
                        const Holds &holds, const std::string &path);
} // namespace femgpu

#endif
