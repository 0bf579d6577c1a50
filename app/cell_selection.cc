#include "app/cell_selection.h"

#include "physics/parameter_fields.h"
#include "physics/refinement.h"

namespace femgpu
{
template <int dim>
CellSelection<dim>::CellSelection(const StudyParameters &parameters, const MeshRegions &regions)
    : parameters(parameters),
      where(make_optional_field<dim>("Study/Refine where", parameters.refine_where, 1, regions)),
      size(make_optional_field<dim>("Study/Cell size", parameters.cell_size, 1, regions))
{}

template <int dim>
bool CellSelection<dim>::flag(Mesh<dim> &mesh, const dealii::Vector<float> &indicators) const
{
  if (parameters.is_by_estimate())
    flag_by_indicators(mesh, indicators,
                       {parameters.strategy == "fixed_number" ? RefinementRule::Fraction::of_cells
                                                              : RefinementRule::Fraction::of_error,
                        parameters.refine_fraction, parameters.coarsen_fraction});
  if (!parameters.is_adaptive())
    flag_if(mesh, [](const auto & /* cell */) { return true; });
  if (where)
    flag_if(mesh, [&](const auto &cell) { return where->value(cell->center()) != 0.; });
  if (size)
    flag_if(mesh, [&](const auto &cell) { return cell->diameter() > size->value(cell->center()); });
  return limit_level(mesh, parameters.maximum_level);
}

template class CellSelection<2>;
template class CellSelection<3>;
} // namespace femgpu
