#include "physics/mesh/simplex_mesh.h"

#include "physics/base/deal_ii_compat.h"
#include "physics/mesh/mesh_file.h"
#include "physics/mesh/quadratic_geometry.h"

#include <deal.II/base/mpi.h>
#include <deal.II/grid/grid_tools.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
using Order = std::array<unsigned int, 4>;

/// Even permutations that move each of the three pairs of opposite edges to (02), (13).
constexpr std::array<Order, 3> orders = {{{{0, 1, 2, 3}}, {{0, 2, 3, 1}}, {{0, 3, 1, 2}}}};

template <int dim>
using ActiveCell = typename Triangulation<dim>::active_cell_iterator;

/// Returns the order with the shortest diagonal between the midpoints of the edges (02) and (13).
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
    if (length < shortest * (1. - 1e-10)) { // the first of equal ones, independent of rounding
      shortest = length;
      best = order;
    }
  }
  return best;
}

/// Returns whether @p id belongs to a named side or curve.
bool is_named(const types::boundary_id id)
{
  return id != 0 && id != numbers::internal_face_boundary_id;
}

/// Appends the ids of @p face, which may be an edge, to @p marks if it has any.
template <class Face, int structdim>
void add_marks(const Face &face, std::vector<CellData<structdim>> &marks)
{
  if (face->manifold_id() == numbers::flat_manifold_id && !is_named(face->boundary_id()))
    return;
  CellData<structdim> data(face->n_vertices());
  data.boundary_id = face->boundary_id();
  data.manifold_id = face->manifold_id();
  for (const unsigned int v : face->vertex_indices())
    data.vertices[v] = face->vertex_index(v);
  marks.push_back(data);
}

/// Returns the active cells of @p mesh, in their order, as a mesh of level 0 with the manifolds of
/// @p whole.
template <int dim>
std::unique_ptr<Triangulation<dim>> flattened(const Triangulation<dim> &mesh,
                                              const bool for_refinement,
                                              const Triangulation<dim> &whole)
{
  std::vector<CellData<dim>> cells;
  SubCellData marks;
  std::vector<bool> has_line(mesh.n_raw_lines());
  for (const auto &cell : mesh.active_cell_iterators()) {
    const Order order = for_refinement ? order_for_refinement<dim>(cell) : orders[0];
    CellData<dim> data(dim + 1);
    data.material_id = cell->material_id();
    data.manifold_id = cell->manifold_id();
    for (unsigned int v = 0; v <= dim; ++v)
      data.vertices[v] = cell->vertex_index(order[v]);
    cells.push_back(data);
    for (const auto l : cell->line_indices())
      if (!has_line[cell->line_index(l)]) {
        has_line[cell->line_index(l)] = true;
        add_marks(cell->line(l), marks.boundary_lines);
      }
    for (const auto f : cell->face_indices())
      if (dim == 3 && cell->at_boundary(f))
        add_marks(cell->face(f), faces_of<dim>(marks));
  }
  auto flat = std::make_unique<Triangulation<dim>>();
  flat->create_triangulation(mesh.get_vertices(), cells, marks);
  copy_manifolds(whole, *flat);
  return flat;
}

/// Returns @p mesh with all cells refined once, with the manifolds of @p whole.
template <int dim>
std::unique_ptr<Triangulation<dim>> with_children(const Triangulation<dim> &mesh,
                                                  const Triangulation<dim> &whole)
{
  auto result = flattened(mesh, /* for refinement */ true, whole);
  result->refine_global(1);
  refine_quadratic_simplices(*result);
  return result;
}

/// A cell's number and the rank that owns it.
struct NumberAndOwner
{
  types::coarse_cell_id number;
  types::subdomain_id owner;
};

/// Copies the ids of @p of_all to @p cell, the same cell in a rank's part.
template <int dim>
void set_ids(const ActiveCell<dim> &cell, const ActiveCell<dim> &of_all,
             const types::subdomain_id owner)
{
  cell->set_subdomain_id(owner);
  cell->set_manifold_id(of_all->manifold_id());
  for (const auto l : cell->line_indices()) {
    const auto line = of_all->line(l);
    cell->line(l)->set_manifold_id(line->manifold_id());
    if (dim == 3 && is_named(line->boundary_id()))
      cell->line(l)->set_boundary_id(line->boundary_id());
  }
  for (const auto f : cell->face_indices()) {
    if constexpr (dim == 3)
      cell->quad(f)->set_manifold_id(of_all->quad(f)->manifold_id());
    if (cell->at_boundary(f))
      cell->face(f)->set_boundary_id(of_all->at_boundary(f) ? of_all->face(f)->boundary_id()
                                                            : end_of_part);
  }
}

/// Returns for each active cell of @p mesh whether it touches a cell of rank @p me.
template <int dim>
std::vector<bool> cells_near(const Triangulation<dim> &mesh,
                             const std::vector<NumberAndOwner> &cells, const unsigned int me)
{
  std::vector<bool> is_mine(mesh.n_vertices()), result(cells.size());
  for (const auto &cell : mesh.active_cell_iterators())
    if (cells[cell->active_cell_index()].owner == me)
      for (const auto v : cell->vertex_indices())
        is_mine[cell->vertex_index(v)] = true;
  for (const auto &cell : mesh.active_cell_iterators())
    for (const auto v : cell->vertex_indices())
      if (is_mine[cell->vertex_index(v)])
        result[cell->active_cell_index()] = true;
  return result;
}

/// Collective. Makes @p mesh this rank's part of the active cells of @p all. @p cells are in their
/// order.
template <int dim>
void take_part(const Triangulation<dim> &all, const std::vector<NumberAndOwner> &cells,
               PartMesh<dim> &mesh)
{
  TriangulationDescription::Description<dim, dim> part;
  part.comm = compat::communicator(mesh);
  part.settings = TriangulationDescription::Settings::default_setting;
  part.smoothing = Triangulation<dim>::none;
  part.cell_infos.resize(1);
  std::vector<unsigned int> vertex(all.n_vertices(), numbers::invalid_unsigned_int);
  const auto add_cell = [&](const auto &cell) {
    CellData<dim> data(dim + 1);
    data.material_id = cell->material_id();
    for (const auto v : cell->vertex_indices()) {
      unsigned int &number = vertex[cell->vertex_index(v)];
      if (number == numbers::invalid_unsigned_int) {
        number = static_cast<unsigned int>(part.coarse_cell_vertices.size());
        part.coarse_cell_vertices.push_back(cell->vertex(v));
      }
      data.vertices[v] = number;
    }
    part.coarse_cells.push_back(data);
    part.coarse_cell_index_to_coarse_cell_id.push_back(cells[cell->active_cell_index()].number);
  };
  const unsigned int me = Utilities::MPI::this_mpi_process(part.comm);
  const std::vector<bool> is_here = cells_near(all, cells, me);
  for (const auto &cell : all.active_cell_iterators())
    if (is_here[cell->active_cell_index()]) {
      add_cell(cell);
      const auto &[number, owner] = cells[cell->active_cell_index()];
      if (owner == me && part.cell_infos[0].empty()) { // deal.II requires at least one cell
        auto &info = part.cell_infos[0].emplace_back();
        info.id = CellId(number, {}).template to_binary<dim>();
        info.subdomain_id = owner;
      }
    }
  if (part.coarse_cells.empty()) // a triangulation needs a cell; one without owner is artificial
    add_cell(all.begin_active());
  mesh.clear();
  mesh.create_triangulation(part);
  auto cell = mesh.begin_active();
  for (const auto &of_all : all.active_cell_iterators())
    if (is_here[of_all->active_cell_index()])
      set_ids<dim>(cell++, of_all, cells[of_all->active_cell_index()].owner);
  mesh.update_number_cache();
}
} // namespace

template <int dim>
std::unique_ptr<Triangulation<dim>> refined_simplices(const Triangulation<dim> &whole)
{
  return flattened(*with_children(whole, whole), /* for refinement */ false, whole);
}

template <int dim>
void distribute_simplices(Triangulation<dim> &whole, PartMesh<dim> &mesh)
{
  GridTools::partition_triangulation(Utilities::MPI::n_mpi_processes(compat::communicator(mesh)),
                                     whole, SparsityTools::Partitioner::metis);
  std::vector<NumberAndOwner> cells;
  for (const auto &cell : whole.active_cell_iterators())
    cells.push_back({cell->active_cell_index(), cell->subdomain_id()});
  take_part(whole, cells, mesh);
  copy_manifolds(whole, mesh);
}

template <int dim>
void refine_parts(const Triangulation<dim> &whole, PartMesh<dim> &mesh)
{
  const auto refined = with_children<dim>(mesh, whole);
  std::vector<NumberAndOwner> parents, cells;
  for (const auto &cell : mesh.active_cell_iterators())
    parents.push_back({cell->id().get_coarse_cell_id(), cell->subdomain_id()});
  constexpr unsigned int n_children = GeometryInfo<dim>::max_children_per_cell;
  for (const auto &cell : refined->active_cell_iterators()) {
    const NumberAndOwner &parent = parents[static_cast<std::size_t>(cell->parent()->index())];
    const unsigned int child = cells.size() % n_children;
    Assert(cell->parent()->child(child) == cell, ExcInternalError());
    cells.push_back({parent.number * n_children + child, parent.owner});
  }
  take_part(*refined, cells, mesh);
  copy_manifolds(whole, mesh);
}

template std::unique_ptr<Triangulation<2>> refined_simplices(const Triangulation<2> &);
template void distribute_simplices(Triangulation<2> &, PartMesh<2> &);
template void refine_parts(const Triangulation<2> &, PartMesh<2> &);
template std::unique_ptr<Triangulation<3>> refined_simplices(const Triangulation<3> &);
template void distribute_simplices(Triangulation<3> &, PartMesh<3> &);
template void refine_parts(const Triangulation<3> &, PartMesh<3> &);
} // namespace femgpu
