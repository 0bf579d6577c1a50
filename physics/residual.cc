#include "physics/residual.h"

#include "physics/cell_terms.h"

#include <deal.II/distributed/tria_base.h>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Vectors of all dofs that the cells of this rank write to, masters of hanging nodes too.
template <int dim>
FeVector vector_for_sums(const Discretization<dim> &discretization)
{
  IndexSet written = discretization.relevant();
  for (const auto &line : discretization.conformity().get_lines())
    for (const auto &entry : line.entries)
      written.add_index(entry.first);
  written.compress();
  return FeVector(discretization.owned(), written, discretization.communicator());
}
} // namespace

template <int dim>
FeVector nodal_residual(const Problem<dim> &problem, const Discretization<dim> &discretization,
                        const FeVector &u)
{
  const auto phi = problem.nonlinearity();
  const unsigned int n = discretization.element().n_dofs_per_cell();
  CellScratch<dim> scratch(problem, discretization);
  CellTerms terms(n, phi.has_value());
  Vector<double> u_cell(n), r_cell(n);
  FeVector sums = vector_for_sums(discretization), weights;
  if (phi)
    weights.reinit(sums);
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    compute_cell_terms(problem, cell, scratch, terms);
    cell->get_dof_values(u, u_cell);
    terms.K.residual(r_cell, u_cell, terms.f);
    discretization.conformity().distribute_local_to_global(r_cell, terms.dofs, sums);
    if (phi)
      discretization.conformity().distribute_local_to_global(terms.w, terms.dofs, weights);
  }
  sums.compress(VectorOperation::add);
  FeVector result = discretization.make_vector();
  result.copy_locally_owned_data_from(sums);
  if (phi) {
    weights.compress(VectorOperation::add);
    linalg::visit_term(*phi, weights.begin(), [&](const auto &term) {
      for (unsigned int i = 0; i < result.locally_owned_size(); ++i)
        result.local_element(i) += term.value(static_cast<int>(i), u.local_element(i));
    });
  }
  result.update_ghost_values();
  return result;
}

template FeVector nodal_residual(const Problem<2> &, const Discretization<2> &, const FeVector &);
template FeVector nodal_residual(const Problem<3> &, const Discretization<3> &, const FeVector &);
} // namespace femgpu
