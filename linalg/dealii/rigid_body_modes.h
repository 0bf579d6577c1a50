#ifndef femgpu_linalg_dealii_rigid_body_modes_h
#define femgpu_linalg_dealii_rigid_body_modes_h

#include <deal.II/dofs/dof_handler.h>
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/component_mask.h>
#include <deal.II/fe/mapping.h>

#include <cstddef>
#include <map>
#include <vector>

namespace femgpu
{
/**
 * Returns the values of the rigid-body modes at the locally owned dofs: dim translations, then one
 * rotation in 2D or three in 3D. The element must have dim components and support points.
 */
template <int dim>
std::vector<std::vector<double>> rigid_body_modes(const dealii::Mapping<dim> &mapping,
                                                  const dealii::DoFHandler<dim> &dof_handler)
{
  std::vector<std::vector<bool>> components;
  dealii::DoFTools::extract_constant_modes(dof_handler, dealii::ComponentMask(), components);
  std::map<dealii::types::global_dof_index, dealii::Point<dim>> points;
  dealii::DoFTools::map_dofs_to_support_points(mapping, dof_handler, points);
  constexpr int n_rotations = dim == 3 ? 3 : dim - 1;
  const auto &owned = dof_handler.locally_owned_dofs();
  std::vector<std::vector<double>> modes(dim + n_rotations,
                                         std::vector<double>(owned.n_elements(), 0.));
  std::size_t i = 0;
  for (const dealii::types::global_dof_index dof : owned) {
    const dealii::Point<dim> &x = points.at(dof);
    for (int c = 0; c < dim; ++c)
      if (components[c][i])
        modes[c][i] = 1.;
    for (int r = 0; r < n_rotations; ++r) { // rotation in the plane of directions a and b
      const int a = dim == 2 ? 0 : (r + 1) % 3, b = dim == 2 ? 1 : (r + 2) % 3;
      modes[dim + r][i] = components[a][i] ? -x[b] : components[b][i] ? x[a] : 0.;
    }
    ++i;
  }
  return modes;
}
} // namespace femgpu

#endif
