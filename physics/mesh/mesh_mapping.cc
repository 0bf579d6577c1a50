#include "physics/mesh/mesh_mapping.h"

#include "physics/mesh/quadratic_geometry.h"
#include "physics/mesh/surfaces.h"

#include <deal.II/base/geometry_info.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/fe/mapping_q.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include <boost/signals2/connection.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
template <int dim>
using Cell = typename Triangulation<dim>::cell_iterator;

/**
 * The map from the reference cell to a coarse cell. Edges lie on their manifolds. Faces blend their
 * edges (transfinite interpolation, Gordon and Hall 1973) and lie on their surface or pass through
 * their node of second order. Cells blend their faces. With nodes of second order only, the map is
 * the mapping of the elements in the file. Each coarse cell has one smooth map, independent of
 * refinement, so that elements of all degrees keep their order of convergence. No map needs to be
 * inverted.
 */
template <int dim>
class CurvedCell
{
public:
  explicit CurvedCell(const Cell<dim> &coarse)
  {
    for (const unsigned int v : coarse->vertex_indices())
      vertices[v] = coarse->vertex(v);
    for (const unsigned int l : coarse->line_indices()) {
      const auto line = coarse->line(l);
      const unsigned int a = GeometryInfo<dim>::line_to_cell_vertices(l, 0);
      const unsigned int b = GeometryInfo<dim>::line_to_cell_vertices(l, 1);
      if (line->manifold_id() != numbers::flat_manifold_id) {
        MeshEntity &edge = entities[a ^ b][std::min(a, b)];
        edge.manifold = &line->get_manifold();
        if (const auto *const on_parabolas =
                dynamic_cast<const QuadraticManifold<dim> *>(edge.manifold))
          edge.middle = on_parabolas->geometry->find({vertices[a], vertices[b]});
        if (edge.middle != nullptr)
          bubbles.push_back({a ^ b, std::min(a, b),
                             *edge.middle - (vertices[a] + (vertices[b] - vertices[a]) / 2.)});
        else
          quadratic = false;
        straight = false;
      }
    }
    if constexpr (dim == 2)
      add_face(*coarse, all, 0);
    else
      for (const unsigned int f : coarse->face_indices())
        add_face(*coarse->face(f), all & ~(1U << f / 2), (f & 1U) << f / 2);
  }
  bool is_straight() const
  {
    return straight;
  }
  Point<dim> at(const Point<dim> &unit) const
  {
    return straight ? multilinear(unit) : quadratic ? serendipity(unit) : blend(all, 0, unit);
  }

private:
  /// A set of directions: bit d stands for direction d.
  using Directions = unsigned int;
  static constexpr Directions all = (1U << dim) - 1;

  /// The deviation of the midpoint of an edge or face from the interpolation of its ends or edges.
  struct Bubble
  {
    Directions along;
    unsigned int corner; ///< the corner from which the edge or face extends
    Tensor<1, dim> height;
  };

  /// An edge or a face; in 2D also the cell.
  struct MeshEntity
  {
    const Manifold<dim> *manifold = nullptr;     ///< manifold of a curved edge
    const Point<dim> *middle = nullptr;          ///< midpoint of a parabolic edge
    const SurfaceFamily<dim> *surface = nullptr; ///< surface of a face; nullptr: blends edges
    Tensor<1, dim> bubble;                       ///< deviation of the midpoint of a face
  };

  /// Adds the face that extends from @p corner in the directions @p along.
  template <class Face>
  void add_face(const Face &face, const Directions along, const unsigned int corner)
  {
    MeshEntity &entity = entities[along][corner];
    const Manifold<dim> &manifold = face.get_manifold();
    if (const auto *const on_surface = dynamic_cast<const SurfaceManifold<dim> *>(&manifold))
      entity.surface = &on_surface->surface;
    quadratic = quadratic && entity.surface == nullptr;
    const auto *const on_parabolas = dynamic_cast<const QuadraticManifold<dim> *>(&manifold);
    if (on_parabolas == nullptr)
      return;
    Point<dim> center;
    for (unsigned int d = 0; d < dim; ++d)
      center[d] = 0.5;
    if (const Point<dim> *const node = on_parabolas->geometry->find(
            {face.vertex(0), face.vertex(1), face.vertex(2), face.vertex(3)})) {
      entity.bubble = *node - blend(along, corner, center);
      bubbles.push_back({along, corner, entity.bubble});
      straight = false;
    }
  }

  Point<dim> multilinear(const Point<dim> &unit) const
  {
    Point<dim> point;
    for (unsigned int v = 0; v < vertices.size(); ++v)
      point += GeometryInfo<dim>::d_linear_shape_function(unit, v) * vertices[v];
    return point;
  }

  /// Evaluates blend() by shape functions: those of elements with 8 nodes in 2D or 20 in 3D, and of
  /// face midpoints. @pre all curved edges are parabolas, and no face has a surface
  Point<dim> serendipity(const Point<dim> &unit) const
  {
    Point<dim> point = multilinear(unit);
    for (const Bubble &bubble : bubbles) {
      double weight = 1.;
      for (unsigned int d = 0; d < dim; ++d)
        weight *= (bubble.along >> d & 1U) != 0    ? 4. * unit[d] * (1. - unit[d])
                  : (bubble.corner >> d & 1U) != 0 ? unit[d]
                                                   : 1. - unit[d];
      point += weight * bubble.height;
    }
    return point;
  }

  Point<dim> on_edge(const Directions along, const unsigned int corner, const double t) const
  {
    const std::array<Point<dim>, 2> ends = {{vertices[corner], vertices[corner | along]}};
    const std::array<double, 2> weights = {{1. - t, t}};
    const MeshEntity &edge = entities[along][corner];
    if (edge.middle != nullptr)
      return on_parabola(ends[0], *edge.middle, ends[1], t);
    if (edge.manifold != nullptr)
      return edge.manifold->get_new_point(make_array_view(ends.begin(), ends.end()),
                                          make_array_view(weights.begin(), weights.end()));
    return ends[0] + t * (ends[1] - ends[0]);
  }

  /// Returns @p point, an interpolation between the edges of a face, projected to the surface of
  /// the face or, if the face has none, moved by the bubble of the face.
  Point<dim> on_face(const Directions along, const unsigned int corner, const Point<dim> &unit,
                     const Point<dim> &point) const
  {
    const MeshEntity &face = entities[along][corner];
    if (face.surface == nullptr) {
      double bubble = 1.;
      for (unsigned int d = 0; d < dim; ++d)
        bubble *= (along >> d & 1U) != 0 ? 4. * unit[d] * (1. - unit[d]) : 1.;
      return point + bubble * face.bubble;
    }
    double level = 0.;
    for (unsigned int v = 0; v < vertices.size(); ++v)
      if ((v & ~along & all) == corner) {
        double weight = 1.;
        for (unsigned int d = 0; d < dim; ++d)
          if ((along >> d & 1U) != 0)
            weight *= (v >> d & 1U) != 0 ? unit[d] : 1. - unit[d];
        level += weight * face.surface->level(vertices[v]);
      }
    return face.surface->project(point, level);
  }

  /**
   * Returns the image of @p unit in the cell, face, edge or corner that extends from @p corner in
   * the directions @p along. For a cell or face, this is the Boolean sum of its boundary: the sum,
   * for all non-empty sets S of its directions, of (-1)^(|S|+1) times the linear interpolation in S
   * of the faces, edges or corners that extend in the other directions.
   */
  Point<dim> blend(const Directions along, const unsigned int corner, const Point<dim> &unit) const
  {
    if (along == 0)
      return vertices[corner];
    unsigned int direction = 0;
    for (unsigned int d = 0; d < dim; ++d)
      if ((along >> d & 1U) != 0) {
        if (unit[d] == 0. || unit[d] == 1.) // exactly at an end
          return blend(along & ~(1U << d), unit[d] == 1. ? corner | 1U << d : corner, unit);
        direction = d;
      }
    if (along == 1U << direction)
      return on_edge(along, corner, unit[direction]);
    Point<dim> point;
    for (Directions set = along; set != 0; set = (set - 1) & along) { // all non-empty subsets
      for (Directions ends = set;; ends = (ends - 1) & set) {         // the directions with end 1
        double weight = -1.;
        for (unsigned int d = 0; d < dim; ++d)
          if ((set >> d & 1U) != 0)
            weight *= (ends >> d & 1U) != 0 ? -unit[d] : unit[d] - 1.;
        point += weight * blend(along & ~set, corner | ends, unit);
        if (ends == 0)
          break;
      }
    }
    return dim == 3 && along == all ? point : on_face(along, corner, unit, point);
  }

  std::array<Point<dim>, GeometryInfo<dim>::vertices_per_cell> vertices;
  /// Faces and edges by their directions and by the corner from which they extend.
  std::array<std::array<MeshEntity, GeometryInfo<dim>::vertices_per_cell>, all + 1> entities;
  std::vector<Bubble> bubbles;
  bool straight = true;
  bool quadratic = true; ///< all curved edges and faces are quadratic
};

/// Returns the coarse cell that contains @p cell, and transforms @p unit from the coordinates of
/// @p cell to the coordinates of the coarse cell.
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

/// Moves the vertices of @p cell and of its descendants to their exact positions.
/// @param origin first vertex of @p cell in the coordinates of its coarse cell
/// @param size length of the edges of @p cell in these coordinates
/// @param is_placed for each vertex index, whether the vertex has been moved
template <int dim>
void place_vertices(const Cell<dim> &cell, const CurvedCell<dim> &coarse, const Point<dim> &origin,
                    const double size, std::vector<bool> &is_placed)
{
  for (const unsigned int v : cell->vertex_indices())
    if (const unsigned int index = cell->vertex_index(v); !is_placed[index]) {
      cell->vertex(v) = coarse.at(origin + size * GeometryInfo<dim>::unit_cell_vertex(v));
      is_placed[index] = true;
    }
  if (cell->has_children())
    for (unsigned int c = 0; c < cell->n_children(); ++c)
      place_vertices(cell->child(c), coarse,
                     Point<dim>(origin + size / 2. * GeometryInfo<dim>::unit_cell_vertex(c)),
                     size / 2., is_placed);
}

template <int dim>
void place_vertices(Triangulation<dim> &triangulation)
{
  std::vector<bool> is_placed(triangulation.n_vertices());
  for (const auto &cell : triangulation.cell_iterators_on_level(0))
    if (cell->has_children()) {
      const CurvedCell<dim> coarse(cell);
      if (!coarse.is_straight()) // otherwise new vertices are already in the right position
        place_vertices(cell, coarse, Point<dim>(), 1., is_placed);
    }
}

/// A mapping whose support points are images under the maps of coarse cells (CurvedCell). Not
/// thread-safe.
template <int dim>
class CurvedCellMapping : public MappingQ<dim>
{
public:
  using MappingQ<dim>::MappingQ;

protected:
  std::vector<Point<dim>> compute_mapping_support_points(const Cell<dim> &cell) const override
  {
    std::vector<Point<dim>> points = this->unit_cell_support_points;
    const Cell<dim> coarse = coarse_cell_of<dim>(cell, points);
    if (!last || last_cell != coarse) {
      last.emplace(coarse);
      last_cell = coarse;
    }
    for (Point<dim> &point : points)
      point = last->at(point);
    return points;
  }

private:
  mutable Cell<dim> last_cell; ///< the last coarse cell; loops visit its descendants in succession
  mutable std::optional<CurvedCell<dim>> last; ///< the map of last_cell
};

/// A mapping derived from @p Base, itself derived from MappingQ, that caches the support points of
/// active cells until the mesh changes, because all phases of a cycle need these points. Not
/// thread-safe. deal.II's MappingQCache would take 14 % to 90 % more memory, because it also stores
/// cells of coarser levels and of other ranks, and would have to be initialised after each change
/// of the mesh.
template <int dim, class Base>
class CachedMapping final : public Base
{
public:
  CachedMapping(const Triangulation<dim> &mesh, const unsigned int degree)
      : Base(degree), mesh(mesh)
  {
#ifndef __clang_analyzer__ // version 14 reports a use after free in Boost's weak pointers
    change = mesh.signals.any_change.connect([this] { cache.clear(); });
#endif
  }
  std::unique_ptr<Mapping<dim>> clone() const override
  {
    // deal.II 9.4's copies of a MappingQ lack the support points of the reference cell
    return std::make_unique<CachedMapping>(mesh, this->get_degree());
  }

protected:
  std::vector<Point<dim>> compute_mapping_support_points(const Cell<dim> &cell) const override
  {
    if (!cell->is_active())
      return Base::compute_mapping_support_points(cell);
    cache.resize(mesh.n_active_cells());
    std::vector<Point<dim>> &points = cache[cell->active_cell_index()];
    if (points.empty())
      points = Base::compute_mapping_support_points(cell);
    return points;
  }

private:
  const Triangulation<dim> &mesh;
  boost::signals2::scoped_connection change;
  mutable std::vector<std::vector<Point<dim>>> cache; ///< by active cell index
};

/// The mapping of straight triangles and tetrahedra whose sides may have manifolds. In debug mode,
/// deal.II's MappingFE rejects cells with manifolds.
template <int dim>
class StraightSimplexMapping final : public MappingFE<dim>
{
public:
  StraightSimplexMapping() : MappingFE<dim>(FE_SimplexP<dim>(1))
  {}
  std::unique_ptr<Mapping<dim>> clone() const override
  {
    return std::make_unique<StraightSimplexMapping>();
  }
  std::vector<Point<dim>> compute_mapping_support_points(const Cell<dim> &cell) const override
  {
    std::vector<Point<dim>> points;
    for (const unsigned int v : cell->vertex_indices())
      points.push_back(cell->vertex(v));
    return points;
  }
};

/// Returns whether some cells are curved, by Mesh/Manifolds or by nodes of second order.
template <int dim>
bool has_curved_cells(const Triangulation<dim> &triangulation)
{
  const auto ids = triangulation.get_manifold_ids();
  return std::any_of(ids.begin(), ids.end(), [&](const types::manifold_id id) {
    if (id == numbers::flat_manifold_id)
      return false;
    const Manifold<dim> &manifold = triangulation.get_manifold(id);
    return dynamic_cast<const SurfaceManifold<dim> *>(&manifold) != nullptr ||
           dynamic_cast<const QuadraticManifold<dim> *>(&manifold) != nullptr;
  });
}
} // namespace

template <int dim>
std::unique_ptr<Mapping<dim>> make_mapping(const Triangulation<dim> &mesh, const bool is_curved,
                                           const unsigned int degree)
{
  if (mesh.all_reference_cells_are_simplex()) {
    if (is_curved && degree > 1)
      return std::make_unique<CurvedSimplexMapping<dim>>();
    return std::make_unique<StraightSimplexMapping<dim>>();
  }
  if (has_curved_cells(mesh))
    return std::make_unique<CachedMapping<dim, CurvedCellMapping<dim>>>(mesh, degree);
  if (is_curved && degree > 1)
    return std::make_unique<CachedMapping<dim, MappingQ<dim>>>(mesh, degree);
  return std::make_unique<MappingQ<dim>>(1);
}

template <int dim>
std::unique_ptr<Mapping<dim>> make_mapping(const Mesh<dim> &mesh, const unsigned int degree)
{
  return make_mapping<dim>(*mesh.triangulation, mesh.is_curved, degree);
}

template <int dim>
void preserve_curved_cells([[maybe_unused]] Triangulation<dim> &triangulation)
{
#ifndef __clang_analyzer__ // version 14 reports a use after free in Boost's weak pointers
  triangulation.signals.post_refinement.connect(
      [&triangulation] { place_vertices(triangulation); });
#endif
}

template std::unique_ptr<Mapping<2>> make_mapping(const Triangulation<2> &, bool, unsigned int);
template std::unique_ptr<Mapping<3>> make_mapping(const Triangulation<3> &, bool, unsigned int);
template std::unique_ptr<Mapping<2>> make_mapping(const Mesh<2> &, unsigned int);
template std::unique_ptr<Mapping<3>> make_mapping(const Mesh<3> &, unsigned int);
template void preserve_curved_cells(Triangulation<2> &);
template void preserve_curved_cells(Triangulation<3> &);
} // namespace femgpu
