#ifndef femgpu_physics_forest_mesh_h
#define femgpu_physics_forest_mesh_h

#include <deal.II/distributed/tria.h>

namespace femgpu
{
/// A mesh of quadrilaterals or hexahedra, distributed by p4est, that refines all its cells quickly.
template <int dim>
class ForestMesh : public dealii::parallel::distributed::Triangulation<dim>
{
public:
  explicit ForestMesh(MPI_Comm communicator);

  /**
   * Collective. Refines all cells @p times. Of a mesh that was not refined before, p4est's forest
   * is refined and distributed as a whole, so that each rank makes its own cells once, where
   * Triangulation::refine_global() refines, balances and distributes every level.
   */
  void refine_all(unsigned int times);

  /// While a uniform forest becomes a mesh, all there is to see to are the cells of other ranks,
  /// which get as fine as their neighbours need them. deal.II looks at all cells many times.
  bool prepare_coarsening_and_refinement() override;

private:
  bool is_loading = false; ///< a uniform forest without periodic sides
};
} // namespace femgpu

#endif
