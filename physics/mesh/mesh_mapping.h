#ifndef femgpu_physics_mesh_mapping_h
#define femgpu_physics_mesh_mapping_h

#include "physics/mesh/curved_cells.h"
#include "physics/mesh/mesh.h"
#include "physics/mesh/quadratic_geometry.h"

#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/mapping_fe.h>

#include <memory>

namespace femgpu
{
/// The mapping of the cells of @p mesh, with manifolds that @p is_curved or flat ones: of @p degree
/// if they are curved, of triangles and tetrahedra of degree 2 at most.
template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const dealii::Triangulation<dim> &mesh,
                                                   const bool is_curved, const unsigned int degree)
{
  if (mesh.all_reference_cells_are_simplex()) {
    if (is_curved && degree > 1)
      return std::make_unique<CurvedSimplexMapping<dim>>();
    return std::make_unique<dealii::MappingFE<dim>>(dealii::FE_SimplexP<dim>(1));
  }
  if (has_curved_cells(mesh))
    return std::make_unique<CurvedCellMapping<dim>>(degree);
  return std::make_unique<dealii::MappingQ<dim>>(is_curved ? degree : 1);
}

template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const Mesh<dim> &mesh, const unsigned int degree)
{
  return make_mapping<dim>(*mesh.triangulation, mesh.is_curved, degree);
}
} // namespace femgpu

#endif
