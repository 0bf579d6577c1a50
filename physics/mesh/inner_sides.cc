#include "physics/mesh/inner_sides.h"

#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
template <int dim, class Face>
std::vector<Point<dim>> corners_of(const Face &face)
{
  std::vector<Point<dim>> corners;
  for (const unsigned int v : face->vertex_indices())
    corners.push_back(face->vertex(v));
  return corners;
}

/// Returns the ancestor of level 0 of @p cell, and for each face of @p cell whether it is a part of
/// the ancestor's face with the same number. @pre cells above level 0 are quadrilaterals or
/// hexahedra
template <int dim>
std::pair<typename Triangulation<dim>::cell_iterator,
          std::array<bool, GeometryInfo<dim>::faces_per_cell>>
ancestor_of(typename Triangulation<dim>::cell_iterator cell)
{
  std::array<bool, GeometryInfo<dim>::faces_per_cell> is_at_face;
  is_at_face.fill(true);
  for (; cell->level() > 0; cell = cell->parent()) {
    const auto parent = cell->parent();
    unsigned int child = 0;
    while (parent->child(child) != cell)
      ++child;
    for (unsigned int f = 0; f < is_at_face.size(); ++f)
      is_at_face[f] = is_at_face[f] && (child >> f / 2 & 1U) == f % 2;
  }
  return {cell, is_at_face};
}
} // namespace

template <int dim>
auto InnerSides<dim>::id(const Cell &cell, const unsigned int face) const -> Id
{
  const auto found = ids.find(make_corners(corners_of<dim>(cell->face(face))));
  return found == ids.end() ? numbers::internal_face_boundary_id : found->second;
}

template <int dim>
bool InnerSides<dim>::is_integrated_from(const Cell &cell, const unsigned int face)
{
  if (cell->at_boundary(face))
    return true;
  const auto order = [](const Cell &of) {
    return std::make_pair(of->material_id(), of->id().get_coarse_cell_id());
  };
  return order(cell) < order(cell->neighbor(face));
}

template <int dim>
void InnerSides<dim>::add_children(const Triangulation<dim> &mesh)
{
  for (const auto &cell : mesh.cell_iterators_on_level(0))
    for (const unsigned int f : cell->face_indices())
      if (const Id side = empty() ? numbers::internal_face_boundary_id : id(cell, f);
          side != numbers::internal_face_boundary_id)
        for (unsigned int child = 0; child < cell->face(f)->n_children(); ++child)
          add(corners_of<dim>(cell->face(f)->child(child)), side);
}

template <int dim>
InnerSidesOfCells<dim>::InnerSidesOfCells(const InnerSides<dim> &sides,
                                          const Triangulation<dim> &mesh)
{
  for (const auto &cell : mesh.active_cell_iterators()) {
    if (cell->is_artificial())
      continue;
    const auto [ancestor, is_at_face] = ancestor_of<dim>(cell);
    for (const unsigned int f : ancestor->face_indices())
      if (const Id id = is_at_face[f] ? sides.id(ancestor, f) : numbers::internal_face_boundary_id;
          id != numbers::internal_face_boundary_id)
        faces[cell->active_cell_index()][f] = {id, sides.is_integrated_from(ancestor, f)};
  }
}

template class InnerSides<2>;
template class InnerSides<3>;
template class InnerSidesOfCells<2>;
template class InnerSidesOfCells<3>;
} // namespace femgpu
