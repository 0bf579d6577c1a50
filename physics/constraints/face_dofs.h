#ifndef femgpu_physics_face_dofs_h
#define femgpu_physics_face_dofs_h

#include "physics/discretization.h"

#include <deal.II/distributed/tria_base.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe.h>

#include <algorithm>
#include <set>
#include <vector>

namespace femgpu
{
/**
 * Calls f(cell, face, dofs, on_face) for each face, of cells that this rank has, on the parts
 * @p ids of the boundary: with the dofs of the cell and the local numbers of those on the face.
 * FiniteElement::has_support_on_face() of deal.II 9.4 says yes to all dofs of FE_SimplexP.
 */
template <int dim, class F>
void for_each_boundary_face(const Discretization<dim> &discretization,
                            const std::set<dealii::types::boundary_id> &ids, const F &f)
{
  const dealii::FiniteElement<dim> &element = discretization.dofs().get_fe();
  std::vector<dealii::types::global_dof_index> dofs(element.n_dofs_per_cell()), face_dofs;
  std::vector<unsigned int> on_face;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (cell->is_artificial() || !cell->at_boundary())
      continue;
    for (const unsigned int face : cell->face_indices()) {
      if (!cell->face(face)->at_boundary() || ids.count(cell->face(face)->boundary_id()) == 0)
        continue;
      cell->get_dof_indices(dofs);
      face_dofs.resize(element.n_dofs_per_face(face));
      cell->face(face)->get_dof_indices(face_dofs, cell->active_fe_index());
      on_face.clear();
      for (unsigned int i = 0; i < dofs.size(); ++i)
        if (std::find(face_dofs.begin(), face_dofs.end(), dofs[i]) != face_dofs.end())
          on_face.push_back(i);
      f(cell, face, dofs, on_face);
    }
  }
}
} // namespace femgpu

#endif
