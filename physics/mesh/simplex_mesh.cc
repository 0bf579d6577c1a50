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

/// Even permutations of the vertices. Each makes a different pair of opposite edges (02) and (13).
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
    if (length < shortest * (1. - 1e-10)) { // selects the first of lengths equal up to rounding
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

/// Appends the ids of @p face, which may be an edge, to @p subcell_data if the face has any.
template <class Face, int structdim>
void add_ids(const Face &face, std::vector<CellData<structdim>> &subcell_data)
{
  if (face->manifold_id() == numbers::flat_manifold_id && !is_named(face->boundary_id()))
    return;
  CellData<structdim> data(face->n_vertices());
  data.boundary_id = face->boundary_id();
  data.manifold_id = face->manifold_id();
  for (const unsigned int v : face->vertex_indices())
    data.vertices[v] = face->vertex_index(v);
  subcell_data.push_back(data);
}

/// Returns the active cells of @p mesh, in their order, as a mesh of level 0 with the manifolds of
/// @p serial.
/// @param for_refinement whether to permute vertices by order_for_refinement()
template <int dim>
std::unique_ptr<Triangulation<dim>> flattened(const Triangulation<dim> &mesh,
                                              const bool for_refinement,
                                              const Triangulation<dim> &serial)
{
  std::vector<CellData<dim>> cells;
  SubCellData subcell_data;
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
        add_ids(cell->line(l), subcell_data.boundary_lines);
      }
    for (const auto f : cell->face_indices())
      if (dim == 3 && cell->at_boundary(f))
        add_ids(cell->face(f), faces_of<dim>(subcell_data));
  }
  auto flat = std::make_unique<Triangulation<dim>>();
  flat->create_triangulation(mesh.get_vertices(), cells, subcell_data);
  copy_manifolds(serial, *flat);
  return flat;
}

/// Returns a mesh of the active cells of @p mesh, refined once, with the manifolds of @p serial.
template <int dim>
std::unique_ptr<Triangulation<dim>> with_children(const Triangulation<dim> &mesh,
                                                  const Triangulation<dim> &serial)
{
  auto result = flattened(mesh, /* for refinement */ true, serial);
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

/// Sets the owner of @p cell, a cell in a rank's part, and copies the other ids from @p of_all, the
/// same cell in the whole mesh.
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
                                                            : subdomain_boundary_id);
  }
}

/// Returns for each active cell of @p mesh whether it touches a cell of rank @p this_rank.
template <int dim>
std::vector<bool> cells_near(const Triangulation<dim> &mesh,
                             const std::vector<NumberAndOwner> &cells, const unsigned int this_rank)
{
  std::vector<bool> is_own_vertex(mesh.n_vertices()), result(cells.size());
  for (const auto &cell : mesh.active_cell_iterators())
    if (cells[cell->active_cell_index()].owner == this_rank)
      for (const auto v : cell->vertex_indices())
        is_own_vertex[cell->vertex_index(v)] = true;
  for (const auto &cell : mesh.active_cell_iterators())
    for (const auto v : cell->vertex_indices())
      if (is_own_vertex[cell->vertex_index(v)])
        result[cell->active_cell_index()] = true;
  return result;
}

/// Collective. Makes @p mesh this rank's part of the active cells of @p all.
/// @param cells number and owner of each active cell of @p all, in the same order
template <int dim>
void create_local_mesh(const Triangulation<dim> &all, const std::vector<NumberAndOwner> &cells,
                       SimplexMesh<dim> &mesh)
{
  TriangulationDescription::Description<dim, dim> description;
  description.comm = compat::communicator(mesh);
  description.settings = TriangulationDescription::Settings::default_setting;
  description.smoothing = Triangulation<dim>::none;
  description.cell_infos.resize(1);
  std::vector<unsigned int> vertex(all.n_vertices(), numbers::invalid_unsigned_int);
  const auto add_cell = [&](const auto &cell) {
    CellData<dim> data(dim + 1);
    data.material_id = cell->material_id();
    for (const auto v : cell->vertex_indices()) {
      unsigned int &number = vertex[cell->vertex_index(v)];
      if (number == numbers::invalid_unsigned_int) {
        number = static_cast<unsigned int>(description.coarse_cell_vertices.size());
        description.coarse_cell_vertices.push_back(cell->vertex(v));
      }
      data.vertices[v] = number;
    }
    description.coarse_cells.push_back(data);
    description.coarse_cell_index_to_coarse_cell_id.push_back(
        cells[cell->active_cell_index()].number);
  };
  const unsigned int this_rank = Utilities::MPI::this_mpi_process(description.comm);
  const std::vector<bool> is_relevant = cells_near(all, cells, this_rank);
  for (const auto &cell : all.active_cell_iterators())
    if (is_relevant[cell->active_cell_index()]) {
      add_cell(cell);
      const auto &[number, owner] = cells[cell->active_cell_index()];
      if (owner == this_rank &&
          description.cell_infos[0].empty()) { // deal.II requires at least one cell
        auto &info = description.cell_infos[0].emplace_back();
        info.id = CellId(number, {}).template to_binary<dim>();
        info.subdomain_id = owner;
      }
    }
  if (description.coarse_cells
          .empty()) // a triangulation needs a cell; a cell without owner is artificial
    add_cell(all.begin_active());
  mesh.clear();
  mesh.create_triangulation(description);
  auto cell = mesh.begin_active();
  for (const auto &of_all : all.active_cell_iterators())
    if (is_relevant[of_all->active_cell_index()])
      set_ids<dim>(cell++, of_all, cells[of_all->active_cell_index()].owner);
  mesh.update_number_cache();
}
} // namespace

template <int dim>
std::unique_ptr<Triangulation<dim>> refined_simplices(const Triangulation<dim> &serial,
                                                      InnerSides<dim> &inner_sides)
{
  const auto refined = with_children(serial, serial);
  inner_sides.add_children(*refined);
  return flattened(*refined, /* for refinement */ false, serial);
}

template <int dim>
void distribute_simplices(Triangulation<dim> &serial, SimplexMesh<dim> &mesh)
{
  GridTools::partition_triangulation(Utilities::MPI::n_mpi_processes(compat::communicator(mesh)),
                                     serial, SparsityTools::Partitioner::metis);
  std::vector<NumberAndOwner> cells;
  for (const auto &cell : serial.active_cell_iterators())
    cells.push_back({cell->active_cell_index(), cell->subdomain_id()});
  create_local_mesh(serial, cells, mesh);
  copy_manifolds(serial, mesh);
}

template <int dim>
void refine_distributed(const Triangulation<dim> &serial, SimplexMesh<dim> &mesh,
                        InnerSides<dim> &inner_sides)
{
  const auto refined = with_children<dim>(mesh, serial);
  inner_sides.add_children(*refined);
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
  create_local_mesh(*refined, cells, mesh);
  copy_manifolds(serial, mesh);
}

template std::unique_ptr<Triangulation<2>> refined_simplices(const Triangulation<2> &,
                                                             InnerSides<2> &);
template void distribute_simplices(Triangulation<2> &, SimplexMesh<2> &);
template void refine_distributed(const Triangulation<2> &, SimplexMesh<2> &, InnerSides<2> &);
template std::unique_ptr<Triangulation<3>> refined_simplices(const Triangulation<3> &,
                                                             InnerSides<3> &);
template void distribute_simplices(Triangulation<3> &, SimplexMesh<3> &);
template void refine_distributed(const Triangulation<3> &, SimplexMesh<3> &, InnerSides<3> &);
} // namespace femgpu
