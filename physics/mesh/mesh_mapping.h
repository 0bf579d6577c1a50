#ifndef femgpu_physics_mesh_mapping_h
#define femgpu_physics_mesh_mapping_h

#include "physics/mesh/curved_cells.h"
#include "physics/mesh/mesh.h"
#include "physics/mesh/quadratic_geometry.h"

#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/mapping_fe.h>

#include <boost/signals2/connection.hpp>

#include <memory>
#include <vector>

namespace femgpu
{
/// A mapping of type @p Base, derived from MappingQ, that finds the support points of an active
/// cell once until the mesh changes: all phases of a cycle ask for them. To be used by one thread.
template <int dim, class Base>
class RememberedMapping final : public Base
{
public:
  RememberedMapping(const dealii::Triangulation<dim> &mesh, const unsigned int degree)
      : Base(degree), mesh(mesh)
  {
#ifndef __clang_analyzer__ // of version 14, which finds a use after free in Boost's weak pointers
    change = mesh.signals.any_change.connect([this] { known.clear(); });
#endif
  }
  std::unique_ptr<dealii::Mapping<dim>> clone() const override
  {
    // deal.II 9.4's copies of a MappingQ lack the support points of the reference cell
    return std::make_unique<RememberedMapping>(mesh, this->get_degree());
  }

protected:
  std::vector<dealii::Point<dim>> compute_mapping_support_points(
      const typename dealii::Triangulation<dim>::cell_iterator &cell) const override
  {
    if (!cell->is_active())
      return Base::compute_mapping_support_points(cell);
    known.resize(mesh.n_active_cells());
    std::vector<dealii::Point<dim>> &points = known[cell->active_cell_index()];
    if (points.empty())
      points = Base::compute_mapping_support_points(cell);
    return points;
  }

private:
  const dealii::Triangulation<dim> &mesh;
  boost::signals2::scoped_connection change;
  mutable std::vector<std::vector<dealii::Point<dim>>> known; ///< by active index
};

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
    return std::make_unique<RememberedMapping<dim, CurvedCellMapping<dim>>>(mesh, degree);
  if (is_curved && degree > 1)
    return std::make_unique<RememberedMapping<dim, dealii::MappingQ<dim>>>(mesh, degree);
  return std::make_unique<dealii::MappingQ<dim>>(1);
}

template <int dim>
std::unique_ptr<dealii::Mapping<dim>> make_mapping(const Mesh<dim> &mesh, const unsigned int degree)
{
  return make_mapping<dim>(*mesh.triangulation, mesh.is_curved, degree);
}
} // namespace femgpu

#endif
