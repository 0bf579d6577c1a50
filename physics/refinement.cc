#include "physics/refinement.h"

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
  parallel::distributed::GridRefinement::refine_and_coarsen_fixed_number(
      dynamic_cast<parallel::distributed::Triangulation<dim> &>(triangulation), *indicators,
      fractions.refine, fractions.coarsen);
}
/// Barycentric coordinates of @p p, without the first: its place in the reference cell.
template <int dim>
Point<dim> unit_point(const typename Triangulation<dim>::cell_iterator &simplex,
                      const Point<dim> &p)
{
  Tensor<2, dim> edges; // column a is the edge from vertex 0 to vertex a + 1
  for (unsigned int a = 0; a < dim; ++a)
    for (unsigned int d = 0; d < dim; ++d)
      edges[d][a] = simplex->vertex(a + 1)[d] - simplex->vertex(0)[d];
  return Point<dim>(invert(edges) * (p - simplex->vertex(0)));
}

/**
 * Refines all cells of a shared mesh, which every rank has as a whole. deal.II's SolutionTransfer
 * needs the dofs of all cells, but a rank knows those of its own only: each leaves its cells'
 * values, by the number of the cell, in memory that the ranks of the node share, and the owner of
 * a child evaluates those of its parent at the child's nodes.
 */
template <int dim>
FeVector refine_shared_mesh(Mesh<dim> &mesh, Discretization<dim> &discretization, const FeVector &u)
{
  const MPI_Comm comm = discretization.communicator();
  const FiniteElement<dim> &fe = discretization.element();
  const FiniteElement<dim> &scalar = fe.base_element(0);
  const unsigned int n = fe.n_dofs_per_cell();
  const std::size_t n_values = static_cast<std::size_t>(mesh.triangulation->n_active_cells()) * n;
  linalg::require_one_node(comm);
  const linalg::NodeArray<double> values(
      comm, Utilities::MPI::this_mpi_process(comm) == 0 ? n_values : 0);
  Vector<double> cell_values(n);
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned()) {
      cell->get_dof_values(u, cell_values);
      std::copy(cell_values.begin(), cell_values.end(),
                values.data() + static_cast<std::size_t>(cell->active_cell_index()) * n);
    }
  values.synchronize();
  linalg::barrier_asleep(comm);
  values.synchronize();

  Triangulation<dim> before;
  before.copy_triangulation(*mesh.replica);
  const std::vector<unsigned int> parents = refine_globally(mesh, 1);
  discretization.distribute_dofs();
  FeVector result = discretization.make_vector();
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    const unsigned int parent = parents[cell->active_cell_index()];
    const typename Triangulation<dim>::cell_iterator parent_cell(&before, 0, parent);
    const double *of_parent = values.data() + static_cast<std::size_t>(parent) * n;
    cell_values = 0.;
    for (unsigned int i = 0; i < n; ++i) {
      const auto [component, node] = fe.system_to_component_index(i);
      const Point<dim> there = discretization.mapping().transform_unit_to_real_cell(
          cell, scalar.unit_support_point(node));
      const Point<dim> p = unit_point<dim>(parent_cell, there);
      for (unsigned int j = 0; j < n; ++j)
        if (fe.system_to_component_index(j).first == component)
          cell_values(i) +=
              of_parent[j] * scalar.shape_value(fe.system_to_component_index(j).second, p);
    }
    cell->set_dof_values(cell_values, result);
  }
  result.zero_out_ghost_values();
  linalg::barrier_asleep(comm); // nobody lets go of memory that is still read
  return result;
}
} // namespace

template <int dim>
FeVector refine_and_transfer(Mesh<dim> &mesh, Discretization<dim> &discretization,
                             const FeVector &u, const Vector<float> *indicators,
                             const RefinementFractions &fractions)
{
  if (mesh.is_simplex)
    return refine_shared_mesh(mesh, discretization, u);
  auto &triangulation = *mesh.triangulation;
  flag_cells<dim>(triangulation, indicators, fractions);
  triangulation.prepare_coarsening_and_refinement();
  compat::SolutionTransfer<dim, FeVector> transfer(discretization.dofs());
  transfer.prepare_for_coarsening_and_refinement(u);
  triangulation.execute_coarsening_and_refinement();
  discretization.distribute_dofs();
  FeVector guess = discretization.make_vector(); // interpolate() writes to ghost entries, too
  transfer.interpolate(guess);
  return guess;
}

template FeVector refine_and_transfer(Mesh<2> &, Discretization<2> &, const FeVector &,
                                      const Vector<float> *, const RefinementFractions &);
template FeVector refine_and_transfer(Mesh<3> &, Discretization<3> &, const FeVector &,
                                      const Vector<float> *, const RefinementFractions &);
} // namespace femgpu
