#include "physics/active_cell.h"

#include <deal.II/fe/fe.h>

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

template <int dim>
Blocks<dim>::Blocks(const unsigned int n, const DoFHandler<dim> &handler,
                    const FiniteElement<dim> &element)
    : n(n), n_cells(Utilities::pow(n, dim)), n_block_dofs(handler.get_fe().n_dofs_per_cell()),
      n_components(element.n_components()), positions(n_cells)
{
  AssertThrow(n == 2 || n == 4, ExcNotImplemented());
  find_positions();
  find_dofs(handler, element);
  find_ghosts(handler);
}

template <int dim>
void Blocks<dim>::find_positions()
{
  for (unsigned int cell = 0; cell < n_cells; ++cell)
    for (unsigned int bit = 0; (1U << bit) < n; ++bit)
      for (unsigned int d = 0; d < dim; ++d)
        positions[cell][d] |= (cell >> (bit * dim + d) & 1U) << bit;
  for (const auto &position : positions)
    for (unsigned int v = 0; v < GeometryInfo<dim>::vertices_per_cell; ++v) {
      unsigned int number = 0;
      for (unsigned int d = dim; d-- > 0;)
        number = number * (n + 1) + position[d] + (v >> d & 1U);
      vertices.push_back(number);
    }
  for (unsigned int number = 0; number < Utilities::pow(n + 1, dim); ++number) {
    Point<dim> unit;
    for (unsigned int d = 0, rest = number; d < dim; ++d, rest /= n + 1)
      unit[d] = static_cast<double>(rest % (n + 1)) / n;
    for (unsigned int v = 0; v < GeometryInfo<dim>::vertices_per_cell; ++v)
      weights.push_back(GeometryInfo<dim>::d_linear_shape_function(unit, v));
  }
}

template <int dim>
void Blocks<dim>::get_vertices(const Block &block, std::vector<Point<dim>> &points) const
{
  points.clear();
  for (unsigned int number = 0; number < Utilities::pow(n + 1, dim); ++number)
    points.push_back(vertex_at(block, number));
}

template <int dim>
Point<dim> Blocks<dim>::vertex_at(const Block &block, const unsigned int number) const
{
  constexpr unsigned int n_corners = GeometryInfo<dim>::vertices_per_cell;
  Point<dim> point;
  for (unsigned int v = 0; v < n_corners; ++v)
    point += weights[number * n_corners + v] * block->vertex(v);
  return point;
}

template <int dim>
double Blocks<dim>::largest_diameter(const Block &block) const
{
  constexpr unsigned int n_corners = GeometryInfo<dim>::vertices_per_cell;
  std::vector<Point<dim>> points;
  get_vertices(block, points);
  double largest = 0.; // the longest diagonal, as in deal.II
  for (unsigned int cell = 0; cell < n_cells; ++cell)
    for (unsigned int v = 0; v < n_corners / 2; ++v)
      largest = std::max(largest, points[vertex(cell, v)].distance_square(
                                      points[vertex(cell, n_corners - 1 - v)]));
  return std::sqrt(largest);
}

template <int dim>
unsigned int Blocks<dim>::at(const std::array<unsigned int, dim> &position) const
{
  return static_cast<unsigned int>(std::find(positions.begin(), positions.end(), position) -
                                   positions.begin());
}

template <int dim>
void Blocks<dim>::find_dofs(const DoFHandler<dim> &handler, const FiniteElement<dim> &element)
{
  const FiniteElement<dim> &of_block = handler.get_fe();
  in_block.assign(n_cells, std::vector<unsigned int>(element.n_dofs_per_cell()));
  for (unsigned int cell = 0; cell < n_cells; ++cell)
    for (unsigned int i = 0; i < element.n_dofs_per_cell(); ++i) {
      Point<dim> position = element.unit_support_point(i);
      for (unsigned int d = 0; d < dim; ++d)
        position[d] = (position[d] + positions[cell][d]) / n;
      const unsigned int component = element.system_to_component_index(i).first;
      for (unsigned int j = 0; j < n_block_dofs; ++j)
        if (of_block.system_to_component_index(j).first == component &&
            of_block.unit_support_point(j).distance(position) < 1e-6)
          in_block[cell][i] = j;
    }
  std::size_t n_dofs = 0;
  for (const auto &block : handler.active_cell_iterators()) {
    first_dofs.push_back(n_dofs);
    n_dofs += block->is_artificial() ? 0 : n_block_dofs;
  }
  block_dofs.resize(n_dofs);
  std::vector<Index> dofs(n_block_dofs);
  for (const auto &block : handler.active_cell_iterators())
    if (!block->is_artificial()) {
      block->get_dof_indices(dofs);
      std::copy(dofs.begin(), dofs.end(), &block_dofs[first_dofs[block->active_cell_index()]]);
    }
}

template <int dim>
void Blocks<dim>::find_ghosts(const DoFHandler<dim> &handler)
{
  const IndexSet of_owned_blocks =
      dofs_of(ActiveCells<dim>(handler, /* blocks */ nullptr, /* ghosts */ false,
                               /* inner sides */ nullptr),
              n_block_dofs, handler.locally_owned_dofs());
  ghosts.assign(handler.get_triangulation().n_active_cells(), 0);
  for (const auto &block : handler.active_cell_iterators()) {
    if (!block->is_ghost())
      continue;
    const unsigned int index = block->active_cell_index();
    for (unsigned int cell = 0; cell < n_cells; ++cell)
      for (const unsigned int j : in_block[cell])
        if (of_owned_blocks.is_element(block_dofs[first_dofs[index] + j]))
          ghosts[index] |= std::uint64_t{1} << cell;
  }
}

template <int dim>
unsigned int ActiveCell<dim>::Face::corner(const unsigned int i) const
{
  if (!cell.is_deal_ii_cell() && !cell.is_at_face_of_block(number))
    return GeometryInfo<dim>::face_to_cell_vertices(number, i);
  const auto &block = cell.block();
  unsigned int v = 0;
  while (block->vertex_index(v) != block->face(number)->vertex_index(i))
    ++v;
  return v;
}

template <int dim>
double ActiveCell<dim>::Face::diameter() const
{
  if (cell.is_deal_ii_cell())
    return cell.block()->face(number)->diameter();
  const auto vertex = [&](const unsigned int i) {
    return cell.vertex(GeometryInfo<dim>::face_to_cell_vertices(number, i));
  };
  if (dim == 2)
    return vertex(0).distance(vertex(1));
  return std::max(vertex(0).distance(vertex(3)), vertex(1).distance(vertex(2)));
}

template <int dim>
auto ActiveCell<dim>::neighbor(const unsigned int face) const -> std::pair<ActiveCell, unsigned int>
{
  const unsigned int direction = face / 2;
  std::array<unsigned int, dim> position = blocks->position(cell);
  if (!is_at_face_of_block(face)) {
    position[direction] += face % 2 == 0 ? -1U : 1U;
    return {{the_block, blocks, blocks->at(position), inner_sides},
            GeometryInfo<dim>::opposite_face[face]};
  }
  const Block other = the_block->neighbor(face);
  const unsigned int neighbor_face = the_block->neighbor_of_neighbor(face);
  const auto vertices = [&](const Block &block, const unsigned int of_cell, const unsigned int f) {
    std::array<types::global_dof_index, GeometryInfo<dim>::vertices_per_face> result;
    for (unsigned int i = 0; i < result.size(); ++i)
      result[i] = blocks->vertex_dof(block->active_cell_index(), of_cell,
                                     GeometryInfo<dim>::face_to_cell_vertices(f, i));
    std::sort(result.begin(), result.end());
    return result;
  };
  const auto own_vertices = vertices(the_block, cell, face);
  for (unsigned int candidate = 0; candidate < blocks->size(); ++candidate) {
    const ActiveCell result(other, blocks, candidate, inner_sides);
    if (result.is_at_face_of_block(neighbor_face) &&
        vertices(other, candidate, neighbor_face) == own_vertices)
      return {result, neighbor_face};
  }
  AssertThrow(false, ExcInternalError());
}

template <int dim>
Point<dim> ActiveCell<dim>::center() const
{
  if (is_deal_ii_cell())
    return the_block->center();
  Point<dim> sum;
  for (unsigned int v = 0; v < n_vertices(); ++v)
    sum += vertex(v);
  return sum / n_vertices();
}

template <int dim>
double ActiveCell<dim>::diameter() const
{
  if (is_deal_ii_cell())
    return the_block->diameter();
  double largest = 0.; // the longest diagonal, as in deal.II
  for (unsigned int v = 0; v < n_vertices() / 2; ++v)
    largest = std::max(largest, vertex(v).distance(vertex(n_vertices() - 1 - v)));
  return largest;
}

template <int dim>
IndexSet dofs_of(const ActiveCells<dim> &cells, const unsigned int n_dofs_per_cell,
                 const IndexSet &owned)
{
  std::vector<types::global_dof_index> dofs(n_dofs_per_cell), not_owned;
  for (const auto &cell : cells) {
    cell->get_dof_indices(dofs);
    std::copy_if(dofs.begin(), dofs.end(), std::back_inserter(not_owned),
                 [&](const auto dof) { return !owned.is_element(dof); });
  }
  std::sort(not_owned.begin(), not_owned.end());
  IndexSet result = owned;
  result.add_indices(not_owned.begin(), std::unique(not_owned.begin(), not_owned.end()));
  result.compress();
  return result;
}

template class Blocks<2>;
template class Blocks<3>;
template class ActiveCell<2>;
template class ActiveCell<3>;
template IndexSet dofs_of(const ActiveCells<2> &, unsigned int, const IndexSet &);
template IndexSet dofs_of(const ActiveCells<3> &, unsigned int, const IndexSet &);
} // namespace femgpu
