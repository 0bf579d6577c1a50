#ifndef femgpu_physics_simplex_mesh_h
#define femgpu_physics_simplex_mesh_h

#include "physics/mesh/inner_sides.h"

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/grid/tria.h>

#include <memory>

/**
 * @file
 * Meshes of triangles and tetrahedra. All cells have level 0. On a distributed mesh, each rank
 * stores its own cells and the cells that touch them. Cells are numbered by their coarse cell ids,
 * which do not depend on the number of ranks: refinement replaces cell n by 2^dim cells with
 * consecutive numbers from 2^dim n on.
 *
 * deal.II 9.4 always splits the octahedron in the middle of a refined tetrahedron along the same
 * diagonal. Repeated refinement then makes cells increasingly flat, and the elements lose their
 * order of convergence. Therefore the vertices of each cell are permuted, with the same
 * orientation, so that this diagonal is the shortest of the three, which preserves the quality of
 * the children. Remove the permutation once femgpu requires deal.II 9.5, which chooses the diagonal
 * itself.
 */
namespace femgpu
{
/// A rank's part of a distributed mesh. deal.II sorts the descriptions of cells twice, by all the
/// data in them. To keep the descriptions small, owners, boundary ids and manifold ids are set
/// after the cells have been created.
template <int dim>
class SimplexMesh : public dealii::parallel::fullydistributed::Triangulation<dim>
{
public:
  using dealii::parallel::fullydistributed::Triangulation<dim>::Triangulation;

  /// Collective. Recounts cells and neighbouring ranks after the owners of cells have been set.
  using dealii::parallel::TriangulationBase<dim>::update_number_cache;
};

/// Gives each manifold id of @p to, whose ids are already set, its manifold in @p from.
template <int dim>
void copy_manifolds(const dealii::Triangulation<dim> &from, dealii::Triangulation<dim> &to)
{
  for (const auto id : from.get_manifold_ids())
    if (id != dealii::numbers::flat_manifold_id)
      to.set_manifold(id, from.get_manifold(id));
}

/// Returns @p serial with all cells refined once, with its material, boundary and manifold ids.
/// Adds the refined sides to @p inner_sides.
template <int dim>
std::unique_ptr<dealii::Triangulation<dim>>
refined_simplices(const dealii::Triangulation<dim> &serial, InnerSides<dim> &inner_sides);

/**
 * Collective. Partitions @p serial, which is the same on all ranks, by METIS. The subdomain id of
 * each cell becomes the rank that owns the cell, and @p mesh becomes this rank's part of @p serial.
 * DoFHandlers stay attached to @p mesh.
 */
template <int dim>
void distribute_simplices(dealii::Triangulation<dim> &serial, SimplexMesh<dim> &mesh);

/// Collective. Refines @p mesh, this rank's part of a mesh, once. Copies the manifolds of
/// @p serial, the mesh from which @p mesh was made. Adds the refined sides to @p inner_sides.
/// DoFHandlers stay attached to @p mesh.
template <int dim>
void refine_distributed(const dealii::Triangulation<dim> &serial, SimplexMesh<dim> &mesh,
                        InnerSides<dim> &inner_sides);
} // namespace femgpu

#endif
