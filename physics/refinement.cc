#include "physics/refinement.h"

#include "linalg/base/error.h"
#include "linalg/dealii/node_memory.h"
#include "physics/deal_ii_compat.h"

#include <deal.II/distributed/grid_refinement.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/lac/full_matrix.h>

#include <algorithm>

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
/**
 * Refines all cells of a shared mesh, which every rank has as a whole. deal.II's SolutionTransfer
 * needs the dofs of all cells, but a rank knows those of its own only: each leaves its cells'
 * values, by the number of the cell, in memory that the ranks of the node share, and the owner of
 * a child takes those of its parent.
 */
template <int dim>
FeVector refine_shared_mesh(Discretization<dim> &discretization, const FeVector &u)
{
  auto &triangulation = *discretization.mesh().triangulation;
  const MPI_Comm comm = discretization.communicator();
  const FiniteElement<dim> &fe = discretization.element();
  const unsigned int n = fe.n_dofs_per_cell();
  const std::size_t n_values = static_cast<std::size_t>(triangulation.n_active_cells()) * n;
  linalg::require_one_node(comm);
  const linalg::NodeArray<double> values(
      comm, Utilities::MPI::this_mpi_process(comm) == 0 ? n_values : 0);

  Vector<double> parent_values(n), child_values(n);
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    cell->set_user_index(cell->active_cell_index());
    if (!cell->is_locally_owned())
      continue;
    cell->get_dof_values(u, parent_values);
    std::copy(parent_values.begin(), parent_values.end(),
              values.data() + static_cast<std::size_t>(cell->active_cell_index()) * n);
  }
  values.synchronize();
  linalg::barrier_asleep(comm);
  values.synchronize();

  triangulation.execute_coarsening_and_refinement();
  discretization.distribute_dofs();
  FeVector result = discretization.make_vector();
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    const auto parent = cell->parent();
    const double *of_parent = values.data() + static_cast<std::size_t>(parent->user_index()) * n;
    std::copy(of_parent, of_parent + n, parent_values.begin());
    for (unsigned int child = 0; child < parent->n_children(); ++child)
      if (parent->child(child) == cell)
        fe.get_prolongation_matrix(child, RefinementCase<dim>::isotropic_refinement)
            .vmult(child_values, parent_values);
    cell->set_dof_values(child_values, result);
  }
  result.zero_out_ghost_values();
  linalg::barrier_asleep(comm); // nobody lets go of memory that is still read
  return result;
}
} // namespace

template <int dim>
FeVector refine_and_transfer(Discretization<dim> &discretization, const FeVector &u,
                             const Vector<float> *indicators, const RefinementFractions &fractions)
{
  auto &triangulation = *discretization.mesh().triangulation;
  flag_cells<dim>(triangulation, indicators, fractions);
  triangulation.prepare_coarsening_and_refinement();
  if (discretization.mesh().is_simplex)
    return refine_shared_mesh(discretization, u);
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
