#ifndef femgpu_physics_simplex_mesh_h
#define femgpu_physics_simplex_mesh_h

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/grid/tria.h>

#include <memory>

/**
 * @file
 * Meshes of triangles and tetrahedra. All cells are of level 0. Of a distributed mesh a rank has
 * its own cells and those that touch them. Cells have numbers, their coarse cell ids, which are the
 * same on every number of ranks: refined, cell n has the children 2^dim n to 2^dim n + 2^dim - 1.
 *
 * Of the octahedron that is left in the middle of a tetrahedron, deal.II 9.4 always cuts along the
 * same diagonal. Repeated, that makes cells ever flatter, and the elements lose their order. So
 * each cell's vertices are put in an order, of the same orientation, for which that diagonal is the
 * shortest of the three; then all children keep their quality. To be removed where deal.II chooses
 * the diagonal itself (9.5 and later).
 */
namespace femgpu
{
/// What a rank has of a distributed mesh. deal.II sorts descriptions of cells by all that is in
/// them, twice; so owners, ids of boundaries and manifolds are set to cells that are there.
template <int dim>
class PartMesh : public dealii::parallel::fullydistributed::Triangulation<dim>
{
public:
  using dealii::parallel::fullydistributed::Triangulation<dim>::Triangulation;

  /// Collective. Counts cells and neighbours again, after their owners were set.
  using dealii::parallel::TriangulationBase<dim>::update_number_cache;
};

/// Gives @p to, which has the marks, the manifolds of @p from.
template <int dim>
void copy_manifolds(const dealii::Triangulation<dim> &from, dealii::Triangulation<dim> &to)
{
  for (const auto id : from.get_manifold_ids())
    if (id != dealii::numbers::flat_manifold_id)
      to.set_manifold(id, from.get_manifold(id));
}

/// @p whole with all its cells refined once, with their material, boundary and manifold ids.
template <int dim>
std::unique_ptr<dealii::Triangulation<dim>>
refined_simplices(const dealii::Triangulation<dim> &whole);

/**
 * Collective. Cuts @p whole, the same on all ranks, by METIS: the ranks become the subdomain ids
 * of its cells, and @p mesh gets each rank's part. DoFHandlers stay attached.
 */
template <int dim>
void distribute_simplices(dealii::Triangulation<dim> &whole, PartMesh<dim> &mesh);

/// Collective. Each rank refines its part of @p mesh once; @p whole, of which it is a refinement or
/// a part, has the manifolds. DoFHandlers stay attached.
template <int dim>
void refine_parts(const dealii::Triangulation<dim> &whole, PartMesh<dim> &mesh);
} // namespace femgpu

#endif
