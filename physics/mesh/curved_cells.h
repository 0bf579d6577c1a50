#ifndef femgpu_physics_curved_cells_h
#define femgpu_physics_curved_cells_h

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/tria.h>

#include <vector>

namespace femgpu
{
/**
 * Has @p triangulation, of quadrilaterals or hexahedra, sides of Mesh/Manifolds or nodes of second
 * order? Then its cells are images of the reference cells of their coarse cells: edges lie on the
 * manifolds of the coarse edges, faces blend their edges (transfinite interpolation, Gordon and
 * Hall 1973) and lie on their surface or go through their node, and cells blend their faces. With
 * nodes of second order that is the map of the file's elements. It is one smooth map for each
 * coarse cell, whatever the refinement, so that elements of all degrees keep their order; and
 * nothing has to be inverted.
 */
template <int dim>
bool has_curved_cells(const dealii::Triangulation<dim> &triangulation);

/// The mapping of degree p whose support points are the images of those of the reference cell.
template <int dim>
class CurvedCellMapping : public dealii::MappingQ<dim>
{
public:
  using dealii::MappingQ<dim>::MappingQ;

protected:
  std::vector<dealii::Point<dim>> compute_mapping_support_points(
      const typename dealii::Triangulation<dim>::cell_iterator &cell) const override;
};

/// Puts the vertices of all cells to their places, after each refinement of @p triangulation.
template <int dim>
void keep_curved_cells(dealii::Triangulation<dim> &triangulation);
} // namespace femgpu

#endif
