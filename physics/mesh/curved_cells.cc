#include "physics/mesh/curved_cells.h"

#include "physics/mesh/quadratic_geometry.h"
#include "physics/mesh/surfaces.h"

#include <deal.II/base/geometry_info.h>

#include <algorithm>
#include <array>

namespace femgpu
{
using namespace dealii;

namespace
{
template <int dim>
using Cell = typename Triangulation<dim>::cell_iterator;

/// A coarse cell as the image of the reference cell.
template <int dim>
class CurvedCell
{
public:
  explicit CurvedCell(const Cell<dim> &coarse);

  bool is_straight() const
  {
    return straight;
  }
  Point<dim> at(const Point<dim> &unit) const
  {
    return straight ? multilinear(unit) : blend(all, 0, unit);
  }

private:
  /// Bit d for the direction d.
  using Directions = unsigned int;
  static constexpr Directions all = (1U << dim) - 1;

  Point<dim> multilinear(const Point<dim> &unit) const;
  /// The direction of @p along, which is of one bit.
  static unsigned int direction_of(const Directions along)
  {
    unsigned int direction = 0;
    while ((1U << direction) != along)
      ++direction;
    return direction;
  }
  Point<dim> edge(Directions along, unsigned int corner, double t) const;
  Point<dim> blend(Directions along, unsigned int corner, const Point<dim> &unit) const;
  Point<dim> on_surface(Directions along, unsigned int corner, const Point<dim> &unit,
                        const Point<dim> &point) const;
  template <class Face>
  void add_middle(const Face &face, unsigned int f, Directions along, unsigned int corner);

  struct Edge
  {
    const Manifold<dim> *manifold = nullptr; ///< of curved ones
    const Point<dim> *middle = nullptr;      ///< of parabolas
  };

  std::array<Point<dim>, GeometryInfo<dim>::vertices_per_cell> vertices;
  /// From a corner in a direction.
  std::array<std::array<Edge, dim>, GeometryInfo<dim>::vertices_per_cell> edges;
  /// Of a face; nullptr for those that blend their edges.
  std::array<const SurfaceFamily<dim> *, GeometryInfo<dim>::faces_per_cell> faces;
  /// What the middles of these faces have besides, in 2D the middle of the cell first.
  std::array<Tensor<1, dim>, GeometryInfo<dim>::faces_per_cell> middles;
  bool straight = true;
};

template <int dim>
CurvedCell<dim>::CurvedCell(const Cell<dim> &coarse)
{
  for (const unsigned int v : coarse->vertex_indices())
    vertices[v] = coarse->vertex(v);
  for (const unsigned int l : coarse->line_indices()) {
    const auto line = coarse->line(l);
    const unsigned int a = GeometryInfo<dim>::line_to_cell_vertices(l, 0);
    const unsigned int b = GeometryInfo<dim>::line_to_cell_vertices(l, 1);
    if (line->manifold_id() != numbers::flat_manifold_id) {
      Edge &edge = edges[std::min(a, b)][direction_of(a ^ b)];
      edge.manifold = &line->get_manifold();
      if (const auto *const quadratic = dynamic_cast<const QuadraticManifold<dim> *>(edge.manifold))
        edge.middle = quadratic->geometry->find({vertices[a], vertices[b]});
      straight = false;
    }
  }
  for (const unsigned int f : coarse->face_indices()) {
    const auto *const on_surface =
        dynamic_cast<const SurfaceManifold<dim> *>(&coarse->face(f)->get_manifold());
    faces[f] = on_surface != nullptr ? &on_surface->surface : nullptr;
  }
  if constexpr (dim == 2)
    add_middle(*coarse, 0, all, 0);
  else
    for (const unsigned int f : coarse->face_indices())
      add_middle(*coarse->face(f), f, all & ~(1U << f / 2), (f & 1U) << f / 2);
}

/// Of @p face number @p f, which goes from @p corner in the directions @p along.
template <int dim>
template <class Face>
void CurvedCell<dim>::add_middle(const Face &face, const unsigned int f, const Directions along,
                                 const unsigned int corner)
{
  const auto *const quadratic = dynamic_cast<const QuadraticManifold<dim> *>(&face.get_manifold());
  if (quadratic == nullptr)
    return;
  Point<dim> center;
  for (unsigned int d = 0; d < dim; ++d)
    center[d] = 0.5;
  if (const Point<dim> *const node = quadratic->geometry->find(
          {face.vertex(0), face.vertex(1), face.vertex(2), face.vertex(3)})) {
    middles[f] = *node - blend(along, corner, center);
    straight = false;
  }
}

template <int dim>
Point<dim> CurvedCell<dim>::multilinear(const Point<dim> &unit) const
{
  Point<dim> point;
  for (unsigned int v = 0; v < vertices.size(); ++v)
    point += GeometryInfo<dim>::d_linear_shape_function(unit, v) * vertices[v];
  return point;
}

template <int dim>
Point<dim> CurvedCell<dim>::edge(const Directions along, const unsigned int corner,
                                 const double t) const
{
  const std::array<Point<dim>, 2> ends = {{vertices[corner], vertices[corner | along]}};
  const std::array<double, 2> weights = {{1. - t, t}};
  const Edge &edge = edges[corner][direction_of(along)];
  if (edge.middle != nullptr)
    return on_parabola(ends[0], *edge.middle, ends[1], t);
  if (edge.manifold != nullptr)
    return edge.manifold->get_new_point(make_array_view(ends.begin(), ends.end()),
                                        make_array_view(weights.begin(), weights.end()));
  return ends[0] + t * (ends[1] - ends[0]);
}

/// @p point of a face, moved to the surface of the face or with its middle to the node there.
template <int dim>
Point<dim> CurvedCell<dim>::on_surface(const Directions along, const unsigned int corner,
                                       const Point<dim> &unit, const Point<dim> &point) const
{
  unsigned int across = 0;
  while ((along >> across & 1U) != 0)
    ++across;
  const unsigned int face = across == dim ? 0 : 2 * across + (corner >> across & 1U);
  const SurfaceFamily<dim> *const surface = across == dim ? nullptr : faces[face];
  if (surface == nullptr) {
    double bubble = 1.;
    for (unsigned int d = 0; d < dim; ++d)
      bubble *= (along >> d & 1U) != 0 ? 4. * unit[d] * (1. - unit[d]) : 1.;
    return point + bubble * middles[face];
  }
  double level = 0.;
  for (unsigned int v = 0; v < vertices.size(); ++v)
    if ((v & ~along & all) == corner) {
      double weight = 1.;
      for (unsigned int d = 0; d < dim; ++d)
        if ((along >> d & 1U) != 0)
          weight *= (v >> d & 1U) != 0 ? unit[d] : 1. - unit[d];
      level += weight * surface->level(vertices[v]);
    }
  return surface->project(point, level);
}

/**
 * The point of the cell, face, edge or corner that goes from @p corner in the directions @p along:
 * the Boolean sum of what it has at its ends, Σ over the sets S of its directions of (-1)^(|S|+1)
 * the linear interpolation in S of the parts in the other directions.
 */
template <int dim>
Point<dim> CurvedCell<dim>::blend(const Directions along, const unsigned int corner,
                                  const Point<dim> &unit) const
{
  if (along == 0)
    return vertices[corner];
  for (unsigned int d = 0; d < dim; ++d) // at an end, to the last bit
    if ((along >> d & 1U) != 0 && (unit[d] == 0. || unit[d] == 1.))
      return blend(along & ~(1U << d), unit[d] == 1. ? corner | 1U << d : corner, unit);
  if ((along & (along - 1)) == 0) // one direction
    return edge(along, corner, unit[direction_of(along)]);
  Point<dim> point;
  for (Directions set = along; set != 0; set = (set - 1) & along) { // all subsets
    for (Directions ends = set;; ends = (ends - 1) & set) {         // the ends with 1
      double weight = -1.;
      for (unsigned int d = 0; d < dim; ++d)
        if ((set >> d & 1U) != 0)
          weight *= (ends >> d & 1U) != 0 ? -unit[d] : unit[d] - 1.;
      point += weight * blend(along & ~set, corner | ends, unit);
      if (ends == 0)
        break;
    }
  }
  return dim == 3 && along == all ? point : on_surface(along, corner, unit, point);
}

/// The coarse cell that @p cell lies in, with @p unit in its coordinates.
template <int dim>
Cell<dim> coarse_cell_of(Cell<dim> cell, std::vector<Point<dim>> &unit)
{
  while (cell->level() > 0) {
    const auto parent = cell->parent();
    unsigned int child = 0;
    while (parent->child(child) != cell)
      ++child;
    for (Point<dim> &p : unit)
      p = GeometryInfo<dim>::child_to_cell_coordinates(p, child);
    cell = parent;
  }
  return cell;
}

/// @param origin of @p cell in the coordinates of its coarse cell, in which its edges are @p size
template <int dim>
void place_vertices(const Cell<dim> &cell, const CurvedCell<dim> &coarse, const Point<dim> &origin,
                    const double size)
{
  for (const unsigned int v : cell->vertex_indices())
    cell->vertex(v) = coarse.at(origin + size * GeometryInfo<dim>::unit_cell_vertex(v));
  if (cell->has_children())
    for (unsigned int c = 0; c < cell->n_children(); ++c)
      place_vertices(cell->child(c), coarse,
                     Point<dim>(origin + size / 2. * GeometryInfo<dim>::unit_cell_vertex(c)),
                     size / 2.);
}

template <int dim>
void place_vertices(Triangulation<dim> &triangulation)
{
  for (const auto &cell : triangulation.cell_iterators_on_level(0))
    if (cell->has_children()) {
      const CurvedCell<dim> coarse(cell);
      if (!coarse.is_straight()) // new vertices are where they should be otherwise
        place_vertices(cell, coarse, Point<dim>(), 1.);
    }
}
} // namespace

template <int dim>
bool has_curved_cells(const Triangulation<dim> &triangulation)
{
  const auto ids = triangulation.get_manifold_ids();
  return triangulation.all_reference_cells_are_hyper_cube() &&
         std::any_of(ids.begin(), ids.end(), [&](const types::manifold_id id) {
           if (id == numbers::flat_manifold_id)
             return false;
           const Manifold<dim> &manifold = triangulation.get_manifold(id);
           return dynamic_cast<const SurfaceManifold<dim> *>(&manifold) != nullptr ||
                  dynamic_cast<const QuadraticManifold<dim> *>(&manifold) != nullptr;
         });
}

template <int dim>
std::vector<Point<dim>>
CurvedCellMapping<dim>::compute_mapping_support_points(const Cell<dim> &cell) const
{
  std::vector<Point<dim>> points = this->unit_cell_support_points;
  const CurvedCell<dim> coarse(coarse_cell_of<dim>(cell, points));
  for (Point<dim> &point : points)
    point = coarse.at(point);
  return points;
}

template <int dim>
void keep_curved_cells([[maybe_unused]] Triangulation<dim> &triangulation)
{
#ifndef __clang_analyzer__ // of version 14, which finds a use after free in Boost's weak pointers
  triangulation.signals.post_refinement.connect(
      [&triangulation] { place_vertices(triangulation); });
#endif
}

template bool has_curved_cells(const Triangulation<2> &);
template bool has_curved_cells(const Triangulation<3> &);
template class CurvedCellMapping<2>;
template class CurvedCellMapping<3>;
template void keep_curved_cells(Triangulation<2> &);
template void keep_curved_cells(Triangulation<3> &);
} // namespace femgpu
