#include "physics/refinement.h"

#include "linalg/base/error.h"
#include "physics/deal_ii_compat.h"

#include <deal.II/distributed/grid_refinement.h>
#include <deal.II/distributed/tria.h>

namespace femgpu
{
using namespace dealii;

namespace
{
template <int dim>
void flag_cells(typename Mesh<dim>::Triangulation &triangulation, const Vector<float> *indicators,
                const RefinementFractions &fractions)
{
  if (indicators == nullptr) {
    for (const auto &cell : triangulation.active_cell_iterators())
      cell->set_refine_flag();
    return;
  }
  auto *distributed = dynamic_cast<parallel::distributed::Triangulation<dim> *>(&triangulation);
  if (distributed == nullptr)
    throw ParameterError("Triangles and tetrahedra can be refined globally only. Set "
                         "Study/Refinement to global, or use quadrilaterals or hexahedra.",
                         "Study/Refinement");
  parallel::distributed::GridRefinement::refine_and_coarsen_fixed_number(
      *distributed, *indicators, fractions.refine, fractions.coarsen);
}
} // namespace

template <int dim>
FeVector refine_and_transfer(Discretization<dim> &discretization, const FeVector &u,
                             const Vector<float> *indicators, const RefinementFractions &fractions)
{
  auto &triangulation = *discretization.mesh().triangulation;
  flag_cells<dim>(triangulation, indicators, fractions);
  triangulation.prepare_coarsening_and_refinement();
  if (discretization.mesh().is_simplex) { // deal.II 9.4 cannot transfer on shared meshes
    triangulation.execute_coarsening_and_refinement();
    discretization.distribute_dofs();
    return discretization.make_vector();
  }
  compat::SolutionTransfer<dim, FeVector> transfer(discretization.dofs());
  transfer.prepare_for_coarsening_and_refinement(u);
  triangulation.execute_coarsening_and_refinement();
  discretization.distribute_dofs();
  FeVector guess = discretization.make_vector(); // interpolate() writes to ghost entries, too
  transfer.interpolate(guess);
  return guess;
}

template FeVector refine_and_transfer(Discretization<2> &, const FeVector &, const Vector<float> *,
                                      const RefinementFractions &);
template FeVector refine_and_transfer(Discretization<3> &, const FeVector &, const Vector<float> *,
                                      const RefinementFractions &);
} // namespace femgpu
