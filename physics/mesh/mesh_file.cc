#include "physics/mesh/mesh_file.h"

#include "linalg/base/error.h"
#include "physics/mesh/gmsh_file.h"
#include "physics/mesh/mesh_generator.h"
#include "physics/mesh/mesh_text.h"
#include "physics/mesh/vtk_mesh.h"
#include "physics/mesh/vtu_mesh.h"
#include "physics/silent_errors.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/grid/grid_in.h>
#include <deal.II/grid/grid_tools.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
std::string read_whole_file(const std::string &name)
{
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  if (!file)
    throw InputError("The mesh file '" + name + "' cannot be opened: " + std::strerror(errno) +
                     ". Check Mesh/File; a relative name is looked for from the directory the "
                     "program is started in, and beside the parameter file.");
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad())
    throw InputError("The mesh file '" + name + "' cannot be read to its end.");
  if (text.str().find_first_not_of(" \t\r\n") == std::string::npos)
    throw InputError("The mesh file '" + name + "' is empty. Write or copy it again.");
  return text.str();
}

/// Text formats have no such bytes.
void require_text(const std::string &name, const std::string &text)
{
  const auto at = std::find_if(text.begin(), text.end(), [](const unsigned char c) {
    return c == 0x7f || (c < 0x20 && std::strchr("\t\n\r\v\f", c) == nullptr) || c == 0;
  });
  if (at != text.end())
    throw InputError(name + ":" + std::to_string(1 + std::count(text.begin(), at, '\n')) +
                     ": the file is binary. Save it as ASCII.");
}

/// The vertex of deal.II at which each node is.
constexpr std::array<unsigned int, 8> deal_ii_vertex = {{0, 1, 3, 2, 4, 5, 7, 6}};

bool is_hypercube(const ElementKind kind)
{
  return kind == ElementKind::quadrilateral || kind == ElementKind::hexahedron;
}

template <int structdim>
CellData<structdim> cell_data(const MeshElement &element)
{
  CellData<structdim> data(static_cast<unsigned int>(n_nodes_of(element.kind)));
  for (unsigned int v = 0; v < data.vertices.size(); ++v)
    data.vertices[is_hypercube(element.kind) ? deal_ii_vertex[v] : v] =
        static_cast<unsigned int>(element.nodes[v]);
  return data;
}

template <int dim>
void add_boundary(const MeshElement &element, SubCellData &boundary)
{
  if (dimension_of(element.kind) != dim - 1)
    return; // edges in 3D have no conditions of their own
  if constexpr (dim == 2) {
    boundary.boundary_lines.push_back(cell_data<1>(element));
    boundary.boundary_lines.back().boundary_id = static_cast<types::boundary_id>(element.id);
  }
  else {
    boundary.boundary_quads.push_back(cell_data<2>(element));
    boundary.boundary_quads.back().boundary_id = static_cast<types::boundary_id>(element.id);
  }
}

/// The words of a deal.II exception in one line.
[[noreturn]] void refuse_contradiction(const std::string &name, const ExceptionBase &error)
{
  throw InputError("The cells of the mesh file '" + name +
                   "' do not make a mesh: " + words_of(error) + " Mesh the model again.");
}

template <int dim>
bool are_hypercubes(const std::vector<CellData<dim>> &cells)
{
  return std::all_of(cells.begin(), cells.end(), [](const CellData<dim> &cell) {
    return cell.vertices.size() == GeometryInfo<dim>::vertices_per_cell;
  });
}

/// Mirrors cells whose nodes go round the other way, and says so.
template <int dim>
void turn_round(const std::vector<Point<dim>> &points, std::vector<CellData<dim>> &cells,
                MeshFileInfo &info)
{
  const std::vector<CellData<dim>> given = cells;
  GridTools::invert_cells_with_negative_measure(points, cells);
  std::size_t n = 0, first = 0;
  for (std::size_t i = cells.size(); i-- > 0;)
    if (cells[i].vertices != given[i].vertices) {
      ++n;
      first = i;
    }
  if (n == 0)
    return;
  const std::string kind = dim == 2 ? "clockwise" : "as in a mirror";
  info.warnings.push_back(info.cell_places[first] + "the nodes of this cell" +
                          (n == 1 ? " go round "
                                  : " and of " + std::to_string(n - 1) + " more, " +
                                        (n == cells.size() ? "all" : "not all") +
                                        " of the mesh, go round ") +
                          kind + "; they were turned round. " +
                          (n == cells.size() ? "That is harmless."
                                             : "Look whether the mesh is the one that is meant."));
}

/// deal.II from 9.6 on refuses cells without measure, with no word of their place;
/// check_straight_cells() finds all others that are too flat.
template <int dim>
void refuse_flat_cells(const std::vector<Point<dim>> &points,
                       const std::vector<CellData<dim>> &cells, const MeshFileInfo &info)
{
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (GridTools::cell_measure<dim>(points, make_array_view(cells[i].vertices)) == 0.)
      throw InputError(info.cell_places[i] +
                       "the cell is inverted or degenerate: its measure is 0. "
                       "Mend its nodes, or mesh the model again.");
}

/// Hands the cells to deal.II, in their order.
template <int dim>
void make_triangulation(const MeshTable &table, Triangulation<dim> &coarse, MeshFileInfo &info)
{
  std::vector<Point<dim>> points;
  for (const auto &p : table.points) {
    points.emplace_back();
    for (unsigned int d = 0; d < dim; ++d)
      points.back()[d] = p[d];
  }
  std::vector<CellData<dim>> cells;
  SubCellData boundary;
  for (const MeshElement &element : table.elements) {
    add_boundary<dim>(element, boundary);
    if (dimension_of(element.kind) != dim)
      continue;
    cells.push_back(cell_data<dim>(element));
    cells.back().material_id = static_cast<types::material_id>(element.id);
    info.cell_places.push_back(table.place_of(element));
  }
  info.middle_nodes = table.middle_nodes;
  refuse_flat_cells(points, cells, info);
  try {
    GridTools::delete_unused_vertices(points, cells, boundary);
    turn_round(points, cells, info);
    if (are_hypercubes(cells)) // triangles keep deal.II busy for ever
      GridTools::consistently_order_cells(cells);
    coarse.create_triangulation(points, cells, boundary);
  }
  catch (const ExceptionBase &error) {
    refuse_contradiction(table.file, error);
  }
}

template <int dim>
MeshFileInfo read_gmsh(const std::string &name, Triangulation<dim> &coarse)
{
  const GmshFile file = read_gmsh_file(name, read_whole_file(name), dim);
  check_mesh_table(file.table, dim);
  MeshFileInfo info;
  make_triangulation(file.table, coarse, info);
  for (const PhysicalName &group : file.names)
    for (const MeshElement &element : file.table.elements)
      if (dimension_of(element.kind) == group.dimension && element.id == group.id) {
        if (group.dimension == dim - 1)
          info.boundary_names[group.name] = static_cast<types::boundary_id>(group.id);
        else if (group.dimension == dim)
          info.material_names[group.name] = static_cast<types::material_id>(group.id);
        break; // a group without elements is no part of the mesh
      }
  return info;
}

template <int dim>
MeshFileInfo read_nameless(const MeshTable &table, Triangulation<dim> &coarse)
{
  check_mesh_table(table, dim);
  MeshFileInfo info;
  make_triangulation(table, coarse, info);
  return info;
}

template <int dim>
MeshFileInfo read_vtu(const std::string &name, Triangulation<dim> &coarse)
{
  return read_nameless(read_vtu_mesh(name, read_whole_file(name)), coarse);
}

/// Numbers at the end of a text that was cut are wrong without being seen.
void require_end_of_last_line(const std::string &name, const std::string &text)
{
  if (text.back() != '\n')
    throw InputError(name + ":" + std::to_string(1 + std::count(text.begin(), text.end(), '\n')) +
                     ": the last line has no end: the file is truncated. Write or copy it again, "
                     "or end the line.");
}

template <int dim>
MeshFileInfo read_vtk(const std::string &name, Triangulation<dim> &coarse)
{
  const std::string text = read_whole_file(name);
  const MeshTable table = read_vtk_mesh(name, text);
  require_end_of_last_line(name, text);
  return read_nameless(table, coarse);
}

/// A format that deal.II reads.
template <int dim>
struct ForeignFormat
{
  const char *name;
  const char *advice;
  std::function<void(GridIn<dim> &, std::istream &)> read;
};

template <int dim>
MeshFileInfo read_by_deal_ii(const std::string &name, Triangulation<dim> &coarse,
                             const ForeignFormat<dim> &format)
{
  const std::string text = read_whole_file(name);
  require_text(name, text);
  require_end_of_last_line(name, text);
  std::istringstream stream(text);
  GridIn<dim> reader(coarse);
  std::string reason;
  try {
    const SilentErrors silent;
    format.read(reader, stream);
    return {};
  }
  catch (const ExceptionBase &error) {
    reason = words_of(error);
  }
  catch (const std::exception &error) {
    reason = error.what();
  }
  throw InputError("The mesh file '" + name + "' is damaged, truncated or no " + format.name +
                   " of a mesh in " + std::to_string(dim) + "D. " + format.advice +
                   " deal.II, which reads such files, says: " + reason);
}

/**
 * Refuses what deal.II's reader of Abaqus files does not survive: blocks without the name of their
 * set, over which it does not end, and a file that was cut.
 */
void check_abaqus_text(const std::string &name, const std::string &text)
{
  MeshText lines(name, text);
  bool needs_data = false;
  while (lines.next_line()) {
    std::string line(lines.line());
    std::transform(line.begin(), line.end(), line.begin(),
                   [](const unsigned char c) { return std::toupper(c); });
    const auto begins = [&line](const std::string &word) { return line.rfind(word, 0) == 0; };
    const bool is_keyword = line[0] == '*' && !begins("**");
    if (needs_data && is_keyword)
      lines.fail("the block before " + in_quotes(lines.line()) + " is empty. Leave it out.");
    if (!is_keyword) {
      needs_data = needs_data && line[0] == '*'; // a comment
      continue;
    }
    const bool is_set = begins("*ELEMENT") || begins("*ELSET") || begins("*SURFACE");
    const auto value = line.find(begins("*SURFACE") ? "NAME=" : "ELSET=");
    if (is_set && (value == std::string::npos || line.back() == '='))
      lines.fail(in_quotes(lines.line()) + " does not name its set, as in '*ELEMENT, TYPE=S4R, "
                                           "ELSET=EB1'. Is the file truncated?");
    needs_data = is_set || begins("*NODE");
  }
  if (needs_data)
    lines.fail("the file ends within a block: it is truncated. Write or copy it again.");
}

template <int dim>
MeshFileInfo read_abaqus(const std::string &name, Triangulation<dim> &coarse)
{
  check_abaqus_text(name, read_whole_file(name));
  return read_by_deal_ii<dim>(
      name, coarse,
      {"input file of Abaqus as Cubit writes it",
       "It needs *NODE and *ELEMENT with all cells of one kind and of first order.",
       [](GridIn<dim> &reader, std::istream &file) { reader.read_abaqus(file); }});
}

template <int dim>
MeshFileInfo read_ucd(const std::string &name, Triangulation<dim> &coarse)
{
  return read_by_deal_ii<dim>(
      name, coarse,
      {"UCD file of AVS", "It needs cells of one kind: quad or hex.",
       [](GridIn<dim> &reader, std::istream &file) { reader.read_ucd(file); }});
}

template <int dim>
MeshFileInfo read_unv(const std::string &name, Triangulation<dim> &coarse)
{
  return read_by_deal_ii<dim>(
      name, coarse,
      {"UNV file of I-deas", "It needs the sections 2411 (nodes), 2412 (cells) and 2467 (groups).",
       [](GridIn<dim> &reader, std::istream &file) { reader.read_unv(file); }});
}

template <int dim>
using Reader = MeshFileInfo (*)(const std::string &, Triangulation<dim> &);

template <int dim>
const std::map<std::string, Reader<dim>> &readers()
{
  static const std::map<std::string, Reader<dim>> readers = {
      {".inp", read_abaqus<dim>}, {".msh", read_gmsh<dim>}, {".ucd", read_ucd<dim>},
      {".unv", read_unv<dim>},    {".vtk", read_vtk<dim>},  {".vtu", read_vtu<dim>}};
  return readers;
}
} // namespace

const std::vector<std::string> &mesh_file_extensions()
{
  static const std::vector<std::string> extensions = [] {
    std::vector<std::string> names;
    for (const auto &reader : readers<2>())
      names.push_back(reader.first);
    return names;
  }();
  return extensions;
}

std::string find_mesh_file(const std::string &name, const std::string &directory)
{
  const std::filesystem::path beside = std::filesystem::path(directory) / name;
  std::error_code ignored;
  if (beside == name || std::filesystem::exists(name, ignored))
    return name;
  if (std::filesystem::exists(beside, ignored))
    return beside.string();
  throw InputError(
      "There is no mesh file '" + name + "' as seen from the directory the program is " +
      "started in, " + std::filesystem::current_path(ignored).string() +
      ", and none beside the parameter file, '" + beside.string() + "'. Check Mesh/File.");
}

template <int dim>
MeshFileInfo read_mesh_file(const std::string &name, Triangulation<dim> &coarse)
{
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored))
    throw InputError("The mesh file '" + name + "' is a directory. Name a file in it.");
  std::string extension = std::filesystem::path(name).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](const unsigned char c) { return std::tolower(c); });
  const auto reader = readers<dim>().find(extension);
  if (reader == readers<dim>().end()) {
    std::string known;
    for (const std::string &e : mesh_file_extensions())
      known += (known.empty() ? "" : ", ") + e;
    throw InputError("The mesh file '" + name + "' has an unknown ending. The kinds of files are " +
                     known +
                     "; name the file so, or convert it, as with `gmsh FILE -save -o "
                     "MESH.msh`.");
  }
  MeshFileInfo info = reader->second(name, coarse);
  if (coarse.n_active_cells() == 0)
    throw InputError("The mesh file '" + name + "' has no cells of dimension " +
                     std::to_string(dim) + ". Set Dimension to that of the mesh.");
  for (std::size_t i = info.cell_places.size(); i < coarse.n_active_cells(); ++i)
    info.cell_places.push_back(name + ": cell " + std::to_string(i) + ": ");
  return info;
}

template MeshFileInfo read_mesh_file(const std::string &, Triangulation<2> &);
template MeshFileInfo read_mesh_file(const std::string &, Triangulation<3> &);
} // namespace femgpu
