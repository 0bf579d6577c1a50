#ifndef femgpu_physics_forest_mesh_h
#define femgpu_physics_forest_mesh_h

#include <deal.II/distributed/tria.h>

#include <exception>

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

  /**
   * Keeps the flags of families that can be coarsened. p4est keeps neighbours within one level, of
   * all ranks as of one. While the mesh follows the forest, so are cells that the forest does not
   * have here, with few loops over cells: deal.II looks at all of them many times, for each level
   * anew. With periodic sides it is deal.II's.
   */
  bool prepare_coarsening_and_refinement() override;
  void execute_coarsening_and_refinement() override;

private:
  bool is_before_forest = false; ///< p4est will see to the flags of the next preparation
};

/**
 * Passes what p4est would abort the program for to @p report, as std::bad_alloc or
 * std::runtime_error with p4est's own message. @p report must end the program: p4est is C, which no
 * exception may leave.
 */
void report_errors_of_p4est(void (*report)(const std::exception_ptr &));
} // namespace femgpu

#endif
