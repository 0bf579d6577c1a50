#ifndef femgpu_physics_mesh_mapping_h
#define femgpu_physics_mesh_mapping_h

#include "physics/mesh/curved_cells.h"
#include "physics/mesh/mesh.h"

#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/mapping_fe.h>

#include <memory>

namespace femgpu
{
/// The mapping of the cells of @p mesh: of @p degree if they are curved, which simplices are not.
template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const Mesh<dim> &mesh, const unsigned int degree)
{
  if (mesh.is_simplex)
    return std::make_unique<dealii::MappingFE<dim>>(dealii::FE_SimplexP<dim>(1));
  if (has_curved_cells(*mesh.triangulation))
    return std::make_unique<CurvedCellMapping<dim>>(degree);
  return std::make_unique<dealii::MappingQ<dim>>(mesh.is_curved ? degree : 1);
}
} // namespace femgpu

#endif
