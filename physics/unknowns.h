#ifndef femgpu_physics_unknowns_h
#define femgpu_physics_unknowns_h

#include "linalg/dealii/group_system.h"
#include "physics/parameters.h"
#include "physics/problem.h"

#include <deal.II/base/quadrature.h>
#include <deal.II/fe/fe_values.h>

#include <vector>

namespace femgpu
{
/**
 * Collective. Tells @p system, which has the pattern of @p discretization, of its unknowns.
 *
 * Those of degree p are given by those of degree p/2, and so on down to 1, and those by linear
 * elements on coarser and coarser meshes, as far as cells come from refinement: P = I C_H with the
 * interpolation I on each cell and the constraints C_H of the coarser space. Rows of constrained
 * unknowns are zero, but each coarser one that is constrained is one of them: they all stand alone
 * with a positive diagonal, in A and so in PᵀAP.
 */
template <int dim>
void describe_unknowns(const Problem<dim> &problem, const Discretization<dim> &discretization,
                       WantedOfUnknowns wanted, linalg::GroupSystem &system);

/// Calls f(dof, place) for the dofs that this rank owns; for some of them several times.
template <int dim, class Function>
void for_each_owned_node(const Discretization<dim> &discretization, const Function &f)
{
  using namespace dealii;
  const auto &element = discretization.dofs().get_fe();
  FEValues<dim> nodes(discretization.mapping(), element,
                      Quadrature<dim>(element.get_unit_support_points()), update_quadrature_points);
  std::vector<types::global_dof_index> dofs(element.n_dofs_per_cell());
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    nodes.reinit(cell);
    cell->get_dof_indices(dofs);
    for (unsigned int i = 0; i < dofs.size(); ++i)
      if (discretization.owned().is_element(dofs[i]))
        f(dofs[i], nodes.quadrature_point(i));
  }
}
} // namespace femgpu

#endif
