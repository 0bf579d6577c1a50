#include "physics/curves_and_point_sets.h"

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/fe_values.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Returns whether a point of @p points is within @p tolerance of @p p.
template <int dim>
bool is_near(const std::set<std::array<double, 3>> &points, const Point<dim> &p,
             const double tolerance)
{
  constexpr double lowest = std::numeric_limits<double>::lowest();
  for (auto point = points.lower_bound({{p[0] - tolerance, lowest, lowest}});
       point != points.end() && (*point)[0] <= p[0] + tolerance; ++point) {
    double distance = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      distance = std::hypot(distance, (*point)[d] - p[d]);
    if (distance <= tolerance)
      return true;
  }
  return false;
}

template <int dim>
using CellIterator = typename Triangulation<dim>::cell_iterator;

/// Returns edge @p l of @p cell.
template <int dim>
CellSegment<dim> edge_of(const CellIterator<dim> &cell, const unsigned int l)
{
  const auto line = cell->line(l);
  CellSegment<dim> edge = {{1U, static_cast<unsigned int>(line->index())},
                           line->has_children(),
                           {},
                           {{line->vertex(0), line->vertex(1)}}};
  for (const unsigned int v : cell->vertex_indices())
    for (const unsigned int end : {0U, 1U})
      if (cell->vertex_index(v) == line->vertex_index(end))
        edge.unit_ends[end] = cell->reference_cell().template vertex<dim>(v);
  return edge;
}

/// Returns the vertices of @p cell in @p region, and the midpoints of its edges in @p region.
/// Midpoints are vertices of finer neighbours.
template <int dim>
std::vector<CellSegment<dim>> points_of(const CurveOrPointSet &region,
                                        const CellIterator<dim> &cell)
{
  constexpr double rounding = 1e-10; // error of new vertices, relative to the diameter
  const double tolerance = region.midpoints.empty() ? 0. : rounding * cell->diameter();
  std::vector<CellSegment<dim>> result;
  for (const unsigned int v : cell->vertex_indices()) {
    const Point<dim> p = cell->vertex(v), unit = cell->reference_cell().template vertex<dim>(v);
    std::array<double, 3> position = {};
    std::copy_n(p.begin_raw(), dim, position.begin());
    if (region.points.count(position) > 0 || is_near(region.midpoints, p, tolerance))
      result.push_back({{0U, cell->vertex_index(v)}, false, {{unit, unit}}, {{p, p}}});
  }
  for (unsigned int l = 0; !region.midpoints.empty() && l < cell->n_lines(); ++l) {
    const Point<dim> p = cell->line(l)->center(/* respects its manifold */ true);
    if (!is_near(region.midpoints, p, tolerance))
      continue;
    CellSegment<dim> middle = edge_of<dim>(cell, l);
    const auto [a, b] = middle.unit_ends;
    middle.unit_ends.fill(a + (b - a) / 2.);
    middle.ends.fill(p);
    result.push_back(middle);
  }
  return result;
}
} // namespace

template <int dim>
std::vector<CellSegment<dim>> segments_of(const CurveOrPointSet &region,
                                          const CellIterator<dim> &cell)
{
  if (region.dimension == 0)
    return points_of<dim>(region, cell);
  std::vector<CellSegment<dim>> result;
  if constexpr (dim == 3)
    for (const unsigned int l : cell->line_indices())
      if (cell->line(l)->boundary_id() == region.id)
        result.push_back(edge_of<dim>(cell, l));
  return result;
}

namespace
{
/// Returns whether a point of the unit cell lies on the segment.
template <int dim>
bool is_on(const CellSegment<dim> &segment, const Point<dim> &p)
{
  const auto &[a, b] = segment.unit_ends;
  return std::abs(p.distance(a) + p.distance(b) - a.distance(b)) < 1e-10;
}

/// Returns @p n Gauss points on the segment, or its point if both ends are equal. Weights sum to 1.
template <int dim>
Quadrature<dim> points_on(const CellSegment<dim> &segment, const unsigned int n)
{
  const auto &[a, b] = segment.unit_ends;
  if (a == b)
    return Quadrature<dim>(std::vector<Point<dim>>{a}, std::vector<double>{1.});
  const QGauss<1> gauss(n);
  std::vector<Point<dim>> points;
  for (const Point<1> &t : gauss.get_points())
    points.push_back(a + t[0] * (b - a));
  return Quadrature<dim>(points, gauss.get_weights());
}

template <int dim>
void add_load(const Function<dim> &load, const CellSegment<dim> &segment,
              const typename DoFHandler<dim>::active_cell_iterator &cell,
              const Discretization<dim> &discretization, Vector<double> &f)
{
  const FiniteElement<dim> &element = discretization.element();
  const Quadrature<dim> quadrature = points_on(segment, element.degree + 2);
  FEValues<dim> values(discretization.mapping(), element.base_element(0), quadrature,
                       update_values | update_quadrature_points | update_jacobians);
  values.reinit(typename Triangulation<dim>::cell_iterator(cell)); // needs no dofs
  const Tensor<1, dim> direction = segment.unit_ends[1] - segment.unit_ends[0];
  for (const unsigned int q : values.quadrature_point_indices()) {
    const double length =
        direction.norm() == 0. ? 1. : apply_transformation(values.jacobian(q), direction).norm();
    for (unsigned int i = 0; i < f.size(); ++i) {
      const auto [component, node] = element.system_to_component_index(i);
      f(i) += values.shape_value(node, q) * quadrature.weight(q) * length *
              load.value(values.quadrature_point(q), component);
    }
  }
}
} // namespace

template <int dim>
std::map<types::global_dof_index, NodeComponent<dim>>
dofs_on(const CurveOrPointSet &region, const Discretization<dim> &discretization)
{
  const FiniteElement<dim> &element = discretization.element();
  const auto &nodes = element.base_element(0).get_unit_support_points();
  std::vector<types::global_dof_index> dofs(element.n_dofs_per_cell());
  std::map<types::global_dof_index, NodeComponent<dim>> result;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (cell->is_artificial())
      continue;
    for (const CellSegment<dim> &segment : segments_of<dim>(region, cell)) {
      cell->get_dof_indices(dofs);
      for (unsigned int i = 0; i < dofs.size(); ++i) {
        const auto [component, node] = element.system_to_component_index(i);
        if (is_on(segment, nodes[node]))
          result[dofs[i]] = {
              component, discretization.mapping().transform_unit_to_real_cell(cell, nodes[node])};
      }
    }
  }
  return result;
}

template <int dim>
std::map<unsigned int, Vector<double>>
curve_and_point_loads(const Problem<dim> &problem, const Discretization<dim> &discretization)
{
  std::map<unsigned int, Vector<double>> result;
  for (const auto &[id, load] : problem.curve_and_point_loads()) {
    const CurveOrPointSet &region = *discretization.mesh().regions.curve_or_point_set(id);
    std::map<std::pair<unsigned int, unsigned int>,
             typename DoFHandler<dim>::active_cell_iterator>
        first; // the cell with the smallest id at each edge or vertex
    for (const auto &cell : discretization.dofs().active_cell_iterators())
      if (!cell->is_artificial())
        for (const CellSegment<dim> &segment : segments_of<dim>(region, cell))
          if (const auto [existing, is_new] = first.emplace(segment.object, cell);
              !is_new && cell->id() < existing->second->id())
            existing->second = cell;
    for (const auto &[object, cell] : first) {
      if (!cell->is_locally_owned())
        continue;
      Vector<double> &f = result[cell->active_cell_index()];
      if (f.size() == 0)
        f.reinit(discretization.element().n_dofs_per_cell());
      for (const CellSegment<dim> &segment : segments_of<dim>(region, cell))
        if (segment.object == object && !segment.is_refined)
          add_load(*load, segment, cell, discretization, f);
    }
  }
  return result;
}

template std::vector<CellSegment<2>> segments_of<2>(const CurveOrPointSet &,
                                                    const Triangulation<2>::cell_iterator &);
template std::vector<CellSegment<3>> segments_of<3>(const CurveOrPointSet &,
                                                    const Triangulation<3>::cell_iterator &);
template std::map<types::global_dof_index, NodeComponent<2>> dofs_on(const CurveOrPointSet &,
                                                                     const Discretization<2> &);
template std::map<types::global_dof_index, NodeComponent<3>> dofs_on(const CurveOrPointSet &,
                                                                     const Discretization<3> &);
template std::map<unsigned int, Vector<double>> curve_and_point_loads(const Problem<2> &,
                                                                      const Discretization<2> &);
template std::map<unsigned int, Vector<double>> curve_and_point_loads(const Problem<3> &,
                                                                      const Discretization<3> &);
} // namespace femgpu
