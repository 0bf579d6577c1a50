#ifndef femgpu_physics_forest_mesh_h
#define femgpu_physics_forest_mesh_h

#include <deal.II/distributed/tria.h>

#include <exception>

namespace femgpu
{
/// A mesh of quadrilaterals or hexahedra, distributed by p4est, with fast global refinement.
template <int dim>
class ForestMesh : public dealii::parallel::distributed::Triangulation<dim>
{
public:
  explicit ForestMesh(MPI_Comm communicator);

  /**
   * Collective. Refines all cells @p times. If the mesh has not been refined before, p4est's forest
   * is refined and partitioned once, so that each rank creates only its final cells.
   * Triangulation::refine_global() refines, balances and partitions each level.
   */
  void refine_all(unsigned int times);

  /**
   * Clears coarsening flags of incomplete families. p4est ensures that neighbours differ by at most
   * one level, on all ranks. While deal.II's mesh follows the forest, the same is done for cells
   * that are not in this rank's forest, with few loops over the cells. deal.II's implementation
   * loops over all cells many times, anew for each level; it is used only with periodic sides.
   */
  bool prepare_coarsening_and_refinement() override;
  void execute_coarsening_and_refinement() override;

private:
  bool precedes_forest_update = false; ///< p4est will process the flags of the next preparation
};

/**
 * Passes errors for which p4est would abort the program to @p report, as std::bad_alloc or a
 * std::runtime_error with p4est's own message. @p report must end the program: p4est is written in
 * C, so no exception may propagate through it.
 */
void report_errors_of_p4est(void (*report)(const std::exception_ptr &));
} // namespace femgpu

#endif
