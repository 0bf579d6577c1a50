#include "physics/mesh/mesh_file.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"
#include "physics/mesh/mesh_generator.h"
#include "physics/mesh/mesh_readers.h"
#include "physics/mesh/simplex_split.h"
#include "physics/mesh/touching_parts.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/grid/grid_tools.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
std::string read_file(const std::string &name)
{
  const std::optional<std::string> text = contents_of_file(name);
  if (!text)
    throw InputError("The mesh file '" + name + "' cannot be read: " + std::strerror(errno) +
                     ". Check Mesh/File; a relative path is searched in the working directory, "
                     "then in the directory of the parameter file.");
  if (text->find_first_not_of(" \t\r\n") == std::string::npos)
    throw InputError("The mesh file '" + name + "' is empty. Write or copy it again.");
  return *text;
}

bool is_hypercube(const CellShape *const shape)
{
  return shape == &CellShape::quadrilateral || shape == &CellShape::hexahedron;
}

template <int structdim>
CellData<structdim> cell_data(const MeshElement &element)
{
  CellData<structdim> data(static_cast<unsigned int>(element.shape->n_nodes));
  for (unsigned int v = 0; v < data.vertices.size(); ++v)
    data.vertices[is_hypercube(element.shape) ? lexicographic_order[v] : v] =
        static_cast<unsigned int>(element.nodes[v]);
  return data;
}

/// Mirrors cells with inverted orientation, and adds a warning to @p table if there are any.
template <int dim>
void reorient_cells(const std::vector<Point<dim>> &points, std::vector<CellData<dim>> &cells,
                    MeshTable &table)
{
  const std::vector<CellData<dim>> original = cells;
  GridTools::invert_cells_with_negative_measure(points, cells);
  std::size_t n = 0, first = 0;
  for (std::size_t i = cells.size(); i-- > 0;)
    if (cells[i].vertices != original[i].vertices) {
      ++n;
      first = i;
    }
  if (n == 0 || n == cells.size()) // some programs number all cells so
    return;
  const std::string shape = dim == 2 ? "clockwise" : "in mirrored order";
  const std::string n_mesh = std::to_string(cells.size());
  table.warnings.push_back(table.cell_locations[first] + "the nodes of this cell are numbered " +
                           shape + " (" + std::to_string(n) + " of " + n_mesh +
                           " cells in all); femgpu has reversed the numbering. Check that the mesh "
                           "is the intended one.");
}

/// Rejects cells of measure 0. deal.II 9.6 and later reject them without reporting their location.
/// check_straight_cells() finds the other degenerate cells.
template <int dim>
void reject_degenerate_cells(const std::vector<Point<dim>> &points,
                             const std::vector<CellData<dim>> &cells,
                             const std::vector<std::string> &locations)
{
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (GridTools::cell_measure<dim>(points, make_array_view(cells[i].vertices)) == 0.)
      throw InputError(locations[i] +
                       "the cell is inverted or degenerate: its measure is 0. Fix its "
                       "nodes, or mesh the model again.");
}

/// Reorders the vertices of cells so that each edge has the same direction in all cells.
template <int dim>
void order_edges(std::vector<CellData<dim>> &cells)
{
  if (cells[0].vertices.size() == GeometryInfo<dim>::vertices_per_cell)
    GridTools::consistently_order_cells(cells); // for triangles this would not terminate
}

template <int dim>
SubCellData boundary_data_of(const MeshTable &table)
{
  SubCellData boundary;
  auto &faces = faces_of<dim>(boundary);
  for (const MeshElement &element : table.elements)
    if (element.shape->dimension == dim - 1 && !element.is_inner_side) {
      faces.push_back(cell_data<dim - 1>(element));
      faces.back().boundary_id = static_cast<types::boundary_id>(element.id);
    }
  return boundary;
}

/// Makes @p coarse from the cells of @p table, in their order, and the points that they use.
/// @param merging value of Mesh/Merge nodes
template <int dim>
void make_triangulation(MeshTable &table, const std::string &merging, Triangulation<dim> &coarse)
{
  std::vector<Point<dim>> points;
  for (const auto &p : table.points) {
    points.emplace_back();
    for (unsigned int d = 0; d < dim; ++d)
      points.back()[d] = p[d];
  }
  std::vector<CellData<dim>> cells;
  for (const MeshElement &element : table.elements)
    if (element.shape->dimension == dim) {
      cells.push_back(cell_data<dim>(element));
      cells.back().material_id = static_cast<types::material_id>(element.id);
      table.cell_locations.push_back(table.location_of(element.location));
    }
  reject_degenerate_cells(points, cells, table.cell_locations);
  try {
    reorient_cells(points, cells, table);
    order_edges(cells);
    if (const auto merged = merge_nodes(table, merging, dim); !merged.empty()) {
      for (CellData<dim> &cell : cells)
        for (unsigned int &vertex : cell.vertices)
          vertex = static_cast<unsigned int>(merged[vertex]);
      order_edges(cells);
    }
    SubCellData boundary = boundary_data_of<dim>(table);
    GridTools::delete_unused_vertices(points, cells, boundary);
    coarse.create_triangulation(points, cells, boundary);
  }
  catch (const ExceptionBase &error) {
    throw InputError("The cells of the mesh file '" + table.file +
                     "' do not form a valid mesh: " + message_of(error) + " Mesh the model again.");
  }
}

bool has_hypercubes(const MeshTable &table, const int dim)
{
  return std::any_of(table.elements.begin(), table.elements.end(), [dim](const MeshElement &e) {
    return e.shape->dimension == dim && is_hypercube(e.shape);
  });
}

/// Removes the names of groups that have no elements.
void drop_empty_groups(MeshTable &table)
{
  std::set<std::pair<int, long long>> present;
  for (const MeshElement &element : table.elements)
    present.emplace(element.shape->dimension, element.id);
  table.names.erase(std::remove_if(table.names.begin(), table.names.end(),
                                   [&](const PhysicalName &group) {
                                     return present.count({group.dimension, group.id}) == 0;
                                   }),
                    table.names.end());
}
} // namespace

std::string find_mesh_file(const std::string &name, const std::string &directory)
{
  const std::filesystem::path path_in_directory = std::filesystem::path(directory) / name;
  std::error_code ignored;
  const std::string found =
      std::filesystem::exists(name, ignored) ? name : path_in_directory.string();
  if (!std::filesystem::exists(found, ignored))
    throw InputError("The mesh file '" + name + "' does not exist" +
                     (found == name ? ""
                                    : " in the working directory, " +
                                          std::filesystem::current_path(ignored).string() +
                                          ", or next to the parameter file, '" + found + "'") +
                     ". Check Mesh/File.");
  if (std::filesystem::is_directory(found, ignored))
    throw InputError("The mesh file '" + found +
                     "' is a directory. Set Mesh/File to a file in it.");
  return found;
}

template <int dim>
MeshTable read_mesh_file(const std::string &name, const std::string &merging,
                         const std::string &cells, Triangulation<dim> &coarse)
{
  const std::string text = read_file(name);
  const bool is_of_abaqus = // cgx writes Abaqus files as .msh
      extension_of(name) == ".inp" || trimmed_view(text)[0] == '*';
  MeshTable table =
      is_of_abaqus ? read_abaqus_file(name, text, dim) : read_gmsh_file(name, text, dim);
  check_mesh_table(table, dim);
  const bool must_split = must_be_split(table, dim);
  if (must_split && cells == "hypercube")
    throw InputError("The mesh file '" + name +
                     "' has cells of several kinds, prisms or pyramids, which femgpu splits into "
                     "simplices, but Mesh/Cells is hypercube. Set it to auto, or use one kind of "
                     "cells. " +
                     advice_on_mixed_cells(dim));
  const bool is_split = must_split || (cells == "simplex" && has_hypercubes(table, dim));
  if (is_split) { // after merging nodes, so that parts that touch are split alike
    merge_nodes(table, merging, dim);
    split_into_simplices(table, dim, !must_split);
  }
  make_triangulation(table, is_split ? "keep" : merging, coarse);
  drop_empty_groups(table);
  return table;
}

template MeshTable read_mesh_file(const std::string &, const std::string &, const std::string &,
                                  Triangulation<2> &);
template MeshTable read_mesh_file(const std::string &, const std::string &, const std::string &,
                                  Triangulation<3> &);
} // namespace femgpu
