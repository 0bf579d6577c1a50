#ifndef femgpu_physics_face_dofs_h
#define femgpu_physics_face_dofs_h

#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe.h>

#include <algorithm>
#include <vector>

namespace femgpu
{
/**
 * The local numbers of the dofs of @p cell that belong to its face number @p face.
 * FiniteElement::has_support_on_face() of deal.II 9.4 says yes to all dofs of FE_SimplexP.
 * @param dofs of the cell
 */
template <int dim>
std::vector<unsigned int>
local_dofs_on_face(const typename dealii::DoFHandler<dim>::active_cell_iterator &cell,
                   const unsigned int face,
                   const std::vector<dealii::types::global_dof_index> &dofs)
{
  std::vector<dealii::types::global_dof_index> face_dofs(cell->get_fe().n_dofs_per_face(face));
  cell->face(face)->get_dof_indices(face_dofs, cell->active_fe_index());
  std::vector<unsigned int> result;
  for (unsigned int i = 0; i < dofs.size(); ++i)
    if (std::find(face_dofs.begin(), face_dofs.end(), dofs[i]) != face_dofs.end())
      result.push_back(i);
  return result;
}
} // namespace femgpu

#endif
