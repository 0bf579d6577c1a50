#include "physics/mesh/file_regions.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
using Coordinates = std::array<double, 3>;
using EdgesByEnds = std::set<std::set<Coordinates>>; ///< edges by the coordinates of their ends

template <int dim>
Coordinates coordinates_of(const Point<dim> &p)
{
  Coordinates location = {};
  std::copy_n(p.begin_raw(), dim, location.begin());
  return location;
}

template <class Line>
bool is_one_of(const EdgesByEnds &edges, const Line &line)
{
  return edges.count({coordinates_of(line->vertex(0)), coordinates_of(line->vertex(1))}) > 0;
}

/// Assigns the id of @p curve to its edges, all of which are on the boundary.
void mark_edges(const EdgesByEnds &edges, const CurveOrPointSet &curve, const MeshRegions &regions,
                Triangulation<3> &coarse)
{
  for (const auto &face : coarse.active_face_iterators())
    for (unsigned int l = 0; face->at_boundary() && l < face->n_lines(); ++l) {
      const auto line = face->line(l);
      if (!is_one_of(edges, line))
        continue;
      if (const CurveOrPointSet *const other = regions.curve_or_point_set(line->boundary_id()))
        if (other->id != curve.id)
          throw InputError("The curves '" + other->name + "' and '" + curve.name +
                           "' of the mesh file share edges, but each edge can be in one curve "
                           "only. Remove the edges from one of the groups.");
      line->set_boundary_id(curve.id);
    }
}

/// Returns the midpoints of @p edges, evaluated on the manifolds of @p coarse.
template <int dim>
std::set<Coordinates> midpoints_of(const EdgesByEnds &edges, const Triangulation<dim> &coarse)
{
  std::set<Coordinates> midpoints;
  for (const auto &cell : coarse.active_cell_iterators())
    for (unsigned int l = 0; !edges.empty() && l < cell->n_lines(); ++l)
      if (const auto line = cell->line(l); is_one_of(edges, line))
        midpoints.insert(coordinates_of(line->center(/* respects its manifold */ true)));
  return midpoints;
}

/// Stores the names that the mesh file gives to boundaries and materials in @p regions.
template <int dim>
void store_names(const MeshTable &table, MeshRegions &regions)
{
  const auto ids = [&regions](const int dimension) {
    return dimension == dim       ? &regions.materials
           : dimension == dim - 1 ? &regions.boundaries
                                  : nullptr;
  };
  for (const PhysicalName &group : table.names)
    if (NamedIds *const of = ids(group.dimension))
      of->names[group.name].insert(static_cast<NamedIds::Id>(group.id));
  for (const UnusableName &name : table.unusable_names)
    if (name.dimension >= dim - 1)
      ids(name.dimension)->unusable[name.name] = name.reason;
    else if (!is_digits(name.name)) // the numbers of curves and points denote nothing
      regions.boundaries.unusable.emplace(name.name, name.reason);
}

/// Stores the sides inside the body.
template <int dim>
void store_inner_sides(const MeshTable &table, const Triangulation<dim> &coarse, Mesh<dim> &mesh)
{
  NamedIds &boundaries = mesh.regions.boundaries;
  std::map<NamedIds::Id, NamedIds::Id> ids; // by the id of the group
  for (const MeshElement &side : table.elements)
    if (side.is_inner_side)
      ids.emplace(side.id, side.id);
  for (const auto &group : ids)
    if (boundaries.ids.count(group.first) == 0)
      boundaries.inner.insert(group.first);
  for (auto &[of_group, id] : ids)
    if (boundaries.ids.count(of_group) > 0) {
      id = boundaries.unused();
      boundaries.inner.insert(id);
      boundaries.names[std::to_string(of_group)].insert(of_group);
      for (auto &[name, named] : boundaries.names)
        if (named.count(of_group) > 0)
          named.insert(id);
    }
  std::vector<Point<dim>> corners;
  for (const MeshElement &side : table.elements) {
    corners.resize(side.is_inner_side ? side.shape->n_nodes : 0);
    for (std::size_t i = 0; i < corners.size(); ++i)
      for (unsigned int d = 0; d < dim; ++d)
        corners[i][d] = table.points[side.nodes[i]][d];
    if (side.is_inner_side)
      mesh.inner_sides.add(corners, ids.at(static_cast<NamedIds::Id>(side.id)));
  }
  for (const auto &cell : coarse.active_cell_iterators())
    for (const unsigned int f : cell->face_indices())
      if (!ids.empty() && !cell->at_boundary(f) &&
          cell->neighbor(f)->material_id() == cell->material_id())
        if (const auto id = mesh.inner_sides.id(cell, f); id != numbers::internal_face_boundary_id)
          mesh.regions.sides_without_direction.insert(id);
}

} // namespace

template <int dim>
void store_sides_and_materials(const MeshTable &table, const Triangulation<dim> &coarse,
                               Mesh<dim> &mesh)
{
  for (const auto id : coarse.get_boundary_ids())
    mesh.regions.boundaries.ids.insert(id);
  for (const auto &cell : coarse.active_cell_iterators())
    mesh.regions.materials.ids.insert(cell->material_id());
  store_names<dim>(table, mesh.regions);
  store_inner_sides(table, coarse, mesh);
}

template <int dim>
void store_curves_and_point_sets(const MeshTable &table, Triangulation<dim> &coarse,
                                 MeshRegions &regions)
{
  const auto location = [&table](const std::size_t node) {
    Coordinates result = table.points[node];
    result[2] = dim == 2 ? 0. : result[2];
    return result;
  };
  types::boundary_id id = subdomain_boundary_id;
  for (int dimension = dim - 2; dimension >= 0; --dimension)
    for (const PhysicalName &group : table.names) {
      if (group.dimension != dimension || regions.boundaries.names.count(group.name) > 0 ||
          regions.curve_or_point_set(group.name) != nullptr)
        continue;
      do
        --id;
      while (regions.boundaries.ids.count(id) + regions.boundaries.inner.count(id) > 0);
      CurveOrPointSet region = {dimension, group.name, id, {}, {}};
      EdgesByEnds edges; // edges of the curve, or edges whose mid-side node is in the point set
      for (const MeshElement &element : table.elements) {
        if (element.shape->dimension != dimension || element.id != group.id)
          continue;
        if (const std::size_t node = element.nodes[0];
            element.shape == &CellShape::point && table.is_mid_side(node)) {
          edges.insert({location(table.edge_ends[node][0]), location(table.edge_ends[node][1])});
          continue;
        }
        std::set<Coordinates> ends;
        for (std::size_t v = 0; v < element.shape->n_nodes; ++v)
          ends.insert(location(element.nodes[v]));
        region.points.insert(ends.begin(), ends.end());
        if (dimension == 1)
          edges.insert(ends);
      }
      if (dimension == 0)
        region.midpoints = midpoints_of(edges, coarse);
      if constexpr (dim == 3)
        if (dimension == 1)
          mark_edges(edges, region, regions, coarse);
      regions.curves_and_point_sets.push_back(std::move(region));
    }
}

template void store_sides_and_materials(const MeshTable &, const Triangulation<2> &, Mesh<2> &);
template void store_sides_and_materials(const MeshTable &, const Triangulation<3> &, Mesh<3> &);
template void store_curves_and_point_sets(const MeshTable &, Triangulation<2> &, MeshRegions &);
template void store_curves_and_point_sets(const MeshTable &, Triangulation<3> &, MeshRegions &);
} // namespace femgpu
