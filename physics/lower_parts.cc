#include "physics/lower_parts.h"

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_values.h>

#include <algorithm>

namespace femgpu
{
using namespace dealii;

template <int dim>
std::vector<CellSegment<dim>> segments_of(const LowerPart &part,
                                          const typename Triangulation<dim>::cell_iterator &cell)
{
  std::vector<CellSegment<dim>> result;
  const ReferenceCell reference = cell->reference_cell();
  if (part.dimension == 0) {
    for (const unsigned int v : cell->vertex_indices()) {
      std::array<double, 3> place = {};
      std::copy_n(cell->vertex(v).begin_raw(), dim, place.begin());
      const Point<dim> unit = reference.template vertex<dim>(v);
      if (part.points.count(place) > 0)
        result.push_back(
            {cell->vertex_index(v), false, {{unit, unit}}, {{cell->vertex(v), cell->vertex(v)}}});
    }
    return result;
  }
  if constexpr (dim == 3)
    for (const unsigned int l : cell->line_indices()) {
      const auto line = cell->line(l);
      if (line->boundary_id() != part.id)
        continue;
      CellSegment<dim> segment = {static_cast<unsigned int>(line->index()),
                                  line->has_children(),
                                  {},
                                  {{line->vertex(0), line->vertex(1)}}};
      for (const unsigned int v : cell->vertex_indices())
        for (const unsigned int end : {0U, 1U})
          if (cell->vertex_index(v) == line->vertex_index(end))
            segment.unit_ends[end] = reference.template vertex<dim>(v);
      result.push_back(segment);
    }
  return result;
}

namespace
{
/// Does a point of the unit cell lie on the segment?
template <int dim>
bool is_on(const CellSegment<dim> &segment, const Point<dim> &p)
{
  const auto &[a, b] = segment.unit_ends;
  return std::abs(p.distance(a) + p.distance(b) - a.distance(b)) < 1e-10;
}

/// Points with weights for integrals over a segment of length 1, or at a vertex.
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
  values.reinit(cell);
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
dofs_on(const LowerPart &part, const Discretization<dim> &discretization)
{
  const FiniteElement<dim> &element = discretization.element();
  const auto &nodes = element.base_element(0).get_unit_support_points();
  std::vector<types::global_dof_index> dofs(element.n_dofs_per_cell());
  std::map<types::global_dof_index, NodeComponent<dim>> result;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (cell->is_artificial())
      continue;
    for (const CellSegment<dim> &segment : segments_of<dim>(part, cell)) {
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
loads_of_lower_parts(const Problem<dim> &problem, const Discretization<dim> &discretization)
{
  std::map<unsigned int, Vector<double>> result;
  for (const auto &[id, load] : problem.loads_of_lower_parts()) {
    const LowerPart &part = *discretization.mesh().regions.lower_part(id);
    std::map<unsigned int, typename DoFHandler<dim>::active_cell_iterator>
        first; // of the cells around an edge or vertex
    for (const auto &cell : discretization.dofs().active_cell_iterators())
      if (!cell->is_artificial())
        for (const CellSegment<dim> &segment : segments_of<dim>(part, cell))
          if (const auto [known, is_new] = first.emplace(segment.index, cell);
              !is_new && cell->id() < known->second->id())
            known->second = cell;
    for (const auto &[index, cell] : first) {
      if (!cell->is_locally_owned())
        continue;
      Vector<double> &f = result[cell->active_cell_index()];
      if (f.size() == 0)
        f.reinit(discretization.element().n_dofs_per_cell());
      for (const CellSegment<dim> &segment : segments_of<dim>(part, cell))
        if (segment.index == index && !segment.is_refined)
          add_load(*load, segment, cell, discretization, f);
    }
  }
  return result;
}

template std::vector<CellSegment<2>> segments_of<2>(const LowerPart &,
                                                    const Triangulation<2>::cell_iterator &);
template std::vector<CellSegment<3>> segments_of<3>(const LowerPart &,
                                                    const Triangulation<3>::cell_iterator &);
template std::map<types::global_dof_index, NodeComponent<2>> dofs_on(const LowerPart &,
                                                                     const Discretization<2> &);
template std::map<types::global_dof_index, NodeComponent<3>> dofs_on(const LowerPart &,
                                                                     const Discretization<3> &);
template std::map<unsigned int, Vector<double>> loads_of_lower_parts(const Problem<2> &,
                                                                     const Discretization<2> &);
template std::map<unsigned int, Vector<double>> loads_of_lower_parts(const Problem<3> &,
                                                                     const Discretization<3> &);
} // namespace femgpu
