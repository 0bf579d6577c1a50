#include "physics/mesh/quadratic_geometry.h"

#include <deal.II/fe/fe_simplex_p.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu
{
using namespace dealii;

template <int dim>
bool QuadraticGeometry<dim>::add(const std::vector<Point<dim>> &corners, const Point<dim> &node)
{
  constexpr double same = 1e-3; // relative to the corners' distance; loose for merged nodes
  const Point<dim> &known = nodes.emplace(make_corners(corners), node).first->second;
  return known.distance(node) <= same * corners.front().distance(corners.back());
}

template <int dim>
const Point<dim> *QuadraticGeometry<dim>::find(const std::vector<Point<dim>> &corners) const
{
  const auto found = nodes.find(make_corners(corners));
  return found != nodes.end() ? &found->second : nullptr;
}

template <int dim>
Point<dim> QuadraticManifold<dim>::get_new_point(const ArrayView<const Point<dim>> &points,
                                                 const ArrayView<const double> &weights) const
{
  if (points.size() == 2)
    if (const Point<dim> *const middle = geometry->find({points[0], points[1]}))
      return on_parabola(points[0], *middle, points[1], weights[1]);
  Point<dim> mean;
  for (unsigned int i = 0; i < points.size(); ++i)
    mean += weights[i] * points[i];
  return mean;
}

template <int dim>
CurvedSimplexMapping<dim>::CurvedSimplexMapping() : MappingFE<dim>(FE_SimplexP<dim>(2))
{}

template <int dim>
std::vector<Point<dim>> CurvedSimplexMapping<dim>::compute_mapping_support_points(
    const typename Triangulation<dim>::cell_iterator &cell) const
{
  std::vector<Point<dim>> points;
  for (const unsigned int v : cell->vertex_indices())
    points.push_back(cell->vertex(v));
  for (const unsigned int l : cell->line_indices())
    points.push_back(cell->line(l)->center(/* respects its manifold */ true));
  return points;
}

template <int dim>
Point<dim> CurvedSimplexMapping<dim>::transform_real_to_unit_cell(
    const typename Triangulation<dim>::cell_iterator &cell, const Point<dim> &p) const
{
  const std::vector<Point<dim>> points = compute_mapping_support_points(cell);
  constexpr unsigned int max_steps = 30;
  constexpr double longest_step = 0.5, rounding = 1e-15;
  const double close = 1e-12 * points[0].distance(points[1]) + rounding * p.norm();
  Point<dim> unit;
  for (unsigned int d = 0; d < dim; ++d)
    unit[d] = 1. / (dim + 1);
  for (unsigned int step = 0; step < max_steps; ++step) {
    Tensor<1, dim> residual = p - Point<dim>();
    Tensor<2, dim> jacobian;
    for (unsigned int i = 0; i < points.size(); ++i) {
      residual -= this->fe->shape_value(i, unit) * (points[i] - Point<dim>());
      jacobian += outer_product(points[i] - Point<dim>(), this->fe->shape_grad(i, unit));
    }
    if (residual.norm() <= close)
      return unit;
    const Tensor<1, dim> change = invert(jacobian) * residual;
    unit += std::min(1., longest_step / change.norm()) * change;
    if (!std::isfinite(unit.norm()))
      break;
  }
  throw typename Mapping<dim>::ExcTransformationFailed();
}

template <int dim>
ShapesHalfway<dim>::ShapesHalfway(const FiniteElement<dim> &element)
{
  const std::vector<Point<dim>> nodes = FE_SimplexP<dim>(2).get_unit_support_points();
  for (const Point<dim> &a : nodes)
    for (const Point<dim> &b : nodes) {
      std::vector<double> &shapes = values.emplace_back();
      for (unsigned int i = 0; i < element.n_dofs_per_cell(); ++i)
        shapes.push_back(element.shape_value(i, Point<dim>((a + b) / 2.)));
    }
}

namespace
{
/// Returns a map from the vertex indices of the children of @p parent to the numbers of the nodes
/// of the quadratic parent.
template <int dim>
std::map<unsigned int, unsigned int>
nodes_of_children(const typename Triangulation<dim>::cell_iterator &parent)
{
  std::map<unsigned int, unsigned int> nodes;
  for (const unsigned int v : parent->vertex_indices())
    nodes[parent->vertex_index(v)] = v;
  for (const unsigned int l : parent->line_indices())
    nodes[parent->line(l)->child(0)->vertex_index(1)] = parent->n_vertices() + l;
  return nodes;
}

/// Returns the id of the QuadraticManifold that edges of @p cell have; flat_manifold_id if no edge
/// has one.
template <int dim>
types::manifold_id quadratic_manifold(const typename Triangulation<dim>::cell_iterator &cell)
{
  for (const unsigned int l : cell->line_indices())
    if (const auto line = cell->line(l);
        line->manifold_id() != numbers::flat_manifold_id &&
        dynamic_cast<const QuadraticManifold<dim> *>(&line->get_manifold()) != nullptr)
      return line->manifold_id();
  return numbers::flat_manifold_id;
}
} // namespace

template <int dim>
void refine_quadratic_simplices(Triangulation<dim> &mesh)
{
  constexpr double straight = 1e-12; // relative to the length of the edge, for rounding
  const CurvedSimplexMapping<dim> mapping;
  const ShapesHalfway<dim> shapes(FE_SimplexP<dim>(2));
  std::vector<bool> is_done(mesh.n_raw_lines());
  for (const auto &parent : mesh.cell_iterators_on_level(0)) {
    const types::manifold_id id = quadratic_manifold<dim>(parent);
    if (id == numbers::flat_manifold_id)
      continue;
    QuadraticGeometry<dim> &geometry =
        *dynamic_cast<const QuadraticManifold<dim> &>(mesh.get_manifold(id)).geometry;
    const std::vector<Point<dim>> points = mapping.compute_mapping_support_points(parent);
    const auto nodes = nodes_of_children<dim>(parent);
    for (unsigned int c = 0; c < parent->n_children(); ++c)
      for (const unsigned int l : parent->child(c)->line_indices()) {
        const auto line = parent->child(c)->line(l);
        if (is_done[line->index()] ||
            (line->manifold_id() != id && line->manifold_id() != numbers::flat_manifold_id))
          continue; // the edge is done, or lies on a named surface
        is_done[line->index()] = true;
        const std::vector<double> &weights =
            shapes.between(nodes.at(line->vertex_index(0)), nodes.at(line->vertex_index(1)));
        Point<dim> node;
        for (unsigned int i = 0; i < points.size(); ++i)
          node += weights[i] * points[i];
        const Point<dim> a = line->vertex(0), b = line->vertex(1);
        if (node.distance(a + (b - a) / 2.) <= straight * a.distance(b))
          continue;
        geometry.add({a, b}, node);
        line->set_manifold_id(id);
      }
  }
}

template class ShapesHalfway<2>;
template class ShapesHalfway<3>;
template class QuadraticGeometry<2>;
template class QuadraticGeometry<3>;
template class QuadraticManifold<2>;
template class QuadraticManifold<3>;
template class CurvedSimplexMapping<2>;
template class CurvedSimplexMapping<3>;
template void refine_quadratic_simplices(Triangulation<2> &);
template void refine_quadratic_simplices(Triangulation<3> &);
} // namespace femgpu
