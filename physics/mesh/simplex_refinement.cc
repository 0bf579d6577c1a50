#include "physics/mesh/simplex_refinement.h"

#include <deal.II/grid/manifold.h>
#include <deal.II/grid/reference_cell.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
using Order = std::array<unsigned int, 4>;

/// Even permutations that put each of the three pairs of opposite edges at (02), (13).
constexpr std::array<Order, 3> orders = {{{{0, 1, 2, 3}}, {{0, 2, 3, 1}}, {{0, 3, 1, 2}}}};

template <int dim>
using ActiveCell = typename Triangulation<dim>::active_cell_iterator;

/// The order for which the diagonal between the middles of the edges (02) and (13) is shortest.
template <int dim>
Order order_for_refinement(const ActiveCell<dim> &cell)
{
  Order best = orders[0];
  if (dim == 2)
    return best;
  double shortest = std::numeric_limits<double>::max();
  for (const Order &order : orders) {
    const auto middle = [&](const unsigned int a, const unsigned int b) {
      return cell->vertex(order[a]) + (cell->vertex(order[b]) - cell->vertex(order[a])) / 2.;
    };
    const double length = middle(0, 2).distance(middle(1, 3));
    if (length < shortest * (1. - 1e-10)) { // of equal ones the first, whatever rounding says
      shortest = length;
      best = order;
    }
  }
  return best;
}

template <int dim>
void add_boundary_faces(const ActiveCell<dim> &cell, std::vector<CellData<dim - 1>> &faces)
{
  for (const unsigned int f : cell->face_indices())
    if (cell->face(f)->at_boundary()) {
      CellData<dim - 1> face(dim);
      face.boundary_id = cell->face(f)->boundary_id();
      face.manifold_id = cell->face(f)->manifold_id();
      for (unsigned int v = 0; v < dim; ++v)
        face.vertices[v] = cell->face(f)->vertex_index(v);
      faces.push_back(face);
    }
}

/// Gives the edges of @p flat on the boundary the manifolds and ids that those of @p mesh have,
/// with the same vertices.
void copy_marks_of_edges(const Triangulation<3> &mesh, Triangulation<3> &flat)
{
  using Ends = std::pair<unsigned int, unsigned int>;
  const auto ends_of = [](const auto &line) {
    return Ends(std::minmax({line->vertex_index(0), line->vertex_index(1)}));
  };
  std::map<Ends, std::pair<types::manifold_id, types::boundary_id>> marks;
  for (const auto &face : mesh.active_face_iterators())
    if (face->at_boundary())
      for (unsigned int l = 0; l < face->n_lines(); ++l)
        if (face->line(l)->manifold_id() != numbers::flat_manifold_id ||
            face->line(l)->boundary_id() != 0)
          marks[ends_of(face->line(l))] = {face->line(l)->manifold_id(),
                                           face->line(l)->boundary_id()};
  if (marks.empty())
    return;
  for (const auto &face : flat.active_face_iterators())
    if (face->at_boundary())
      for (unsigned int l = 0; l < face->n_lines(); ++l)
        if (const auto found = marks.find(ends_of(face->line(l))); found != marks.end()) {
          face->line(l)->set_manifold_id(found->second.first);
          face->line(l)->set_boundary_id(found->second.second);
        }
}

/// The active cells of @p mesh as a mesh of level 0, in their order.
template <int dim>
void flatten(const Triangulation<dim> &mesh, const bool for_refinement, Triangulation<dim> &flat)
{
  std::vector<CellData<dim>> cells;
  SubCellData boundary;
  for (const auto &cell : mesh.active_cell_iterators()) {
    const Order order = for_refinement ? order_for_refinement<dim>(cell) : orders[0];
    CellData<dim> data(dim + 1);
    data.material_id = cell->material_id();
    data.manifold_id = cell->manifold_id();
    for (unsigned int v = 0; v <= dim; ++v)
      data.vertices[v] = cell->vertex_index(order[v]);
    cells.push_back(data);
    if constexpr (dim == 2)
      add_boundary_faces<dim>(cell, boundary.boundary_lines);
    else
      add_boundary_faces<dim>(cell, boundary.boundary_quads);
  }
  flat.create_triangulation(mesh.get_vertices(), cells, boundary);
  if constexpr (dim == 3)
    copy_marks_of_edges(mesh, flat);
  for (const auto id : mesh.get_manifold_ids())
    if (id != numbers::flat_manifold_id)
      flat.set_manifold(id, mesh.get_manifold(id));
}
} // namespace

template <int dim>
std::vector<unsigned int> refine_simplices(const Triangulation<dim> &mesh,
                                           Triangulation<dim> &refined)
{
  Triangulation<dim> two_levels;
  flatten(mesh, /* for refinement */ true, two_levels);
  two_levels.refine_global(1);
  std::vector<unsigned int> parents;
  for (const auto &cell : two_levels.active_cell_iterators())
    parents.push_back(static_cast<unsigned int>(cell->parent()->index()));
  flatten(two_levels, /* for refinement */ false, refined);
  return parents;
}

template std::vector<unsigned int> refine_simplices(const Triangulation<2> &, Triangulation<2> &);
template std::vector<unsigned int> refine_simplices(const Triangulation<3> &, Triangulation<3> &);
} // namespace femgpu
