#ifndef femgpu_physics_forest_mesh_h
#define femgpu_physics_forest_mesh_h

#include <deal.II/distributed/tria.h>

#include <cstdint>
#include <exception>
#include <vector>

namespace femgpu
{
/// A mesh of quadrilaterals or hexahedra that p4est distributes, with fast global refinement.
template <int dim>
class ForestMesh : public dealii::parallel::distributed::Triangulation<dim>
{
public:
  explicit ForestMesh(MPI_Comm communicator);

  /**
   * Collective. Refines all cells @p times times. If the mesh has not been refined before, p4est's
   * forest is refined and partitioned once, so that each rank creates only its final cells, whereas
   * Triangulation::refine_global() refines, balances and partitions each level.
   */
  void refine_all(unsigned int times);

  /**
   * Collective. Refines and coarsens until the active cells have the given levels. The result
   * depends neither on the present mesh nor on the order of earlier refinements.
   * @param levels the levels of all active cells along the space-filling curve, the same on all
   * ranks, for neighbours that differ by one level at most
   */
  void refine_to(const std::vector<std::uint8_t> &levels);

  /**
   * Clears the coarsening flags of cells whose siblings are not all flagged. The first call
   * within execute_coarsening_and_refinement() does nothing else, because p4est then balances the
   * forest, that is, limits the difference between neighbours to one level. Later calls, which
   * deal.II makes while it adapts its mesh to the forest, also change flags until the mesh is
   * balanced, in few loops over the cells. deal.II's implementation, which loops over all cells
   * many times for each level, is used only with periodic sides.
   * @return whether a flag was changed
   */
  bool prepare_coarsening_and_refinement() override;
  void execute_coarsening_and_refinement() override;

private:
  bool precedes_forest_update = false; ///< p4est will balance the forest after the next preparation
};

/**
 * Makes p4est call @p report for each error, instead of aborting the program. The argument is a
 * std::bad_alloc or a std::runtime_error with p4est's own message. @p report must end the program:
 * p4est is written in C, so no exception may propagate through it.
 */
void report_errors_of_p4est(void (*report)(const std::exception_ptr &));
} // namespace femgpu

#endif
