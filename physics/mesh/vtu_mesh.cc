#include "physics/mesh/mesh_readers.h"

#include "linalg/base/error.h"
#include "physics/mesh/vtu_arrays.h"

#include <cmath>
#include <map>

namespace femgpu
{
using boost::property_tree::ptree;

namespace
{
/// The arrays of cells that have ids, the first one that is there counts.
const std::vector<std::string> id_arrays = {"material_id", "MaterialID", "gmsh:physical",
                                            "avsucd:material"};

/// A kind of VTK, and which of its nodes are ours.
struct VtkKind
{
  ElementKind kind;
  std::vector<std::size_t> nodes;
};

const std::map<int, VtkKind> &vtk_kinds()
{
  static const std::map<int, VtkKind> kinds = {
      {1, {ElementKind::point, {0}}},
      {3, {ElementKind::line, {0, 1}}},
      {5, {ElementKind::triangle, {0, 1, 2}}},
      {8, {ElementKind::quadrilateral, {0, 1, 3, 2}}}, // pixel
      {9, {ElementKind::quadrilateral, {0, 1, 2, 3}}},
      {10, {ElementKind::tetrahedron, {0, 1, 2, 3}}},
      {11, {ElementKind::hexahedron, {0, 1, 3, 2, 4, 5, 7, 6}}}, // voxel
      {12, {ElementKind::hexahedron, {0, 1, 2, 3, 4, 5, 6, 7}}}};
  return kinds;
}

const ptree *child_with_name(const ptree &parent, const std::string &name)
{
  for (const auto &[tag, child] : parent)
    if (tag == "DataArray" && child.get<std::string>("<xmlattr>.Name", "") == name)
      return &child;
  return nullptr;
}

class VtuReader
{
public:
  VtuReader(const std::string &name, const std::string &text) : arrays(name, text)
  {
    table.file = name;
    table.places_are_lines = false;
  }

  MeshTable read();

private:
  const ptree &child(const ptree &parent, const std::string &path) const;
  std::size_t count(const std::string &what) const;
  std::vector<double> cells(const std::string &name, std::size_t n) const;
  void read_points();
  std::vector<double> read_ids() const;
  const VtkKind &kind_of(std::size_t cell, double type) const;
  void read_cells();
  [[noreturn]] void refuse(std::size_t cell, const std::string &message) const;

  VtuArrays arrays;
  const ptree *piece = nullptr;
  std::size_t n_cells = 0;
  MeshTable table;
};

const ptree &VtuReader::child(const ptree &parent, const std::string &path) const
{
  const auto found = parent.get_child_optional(path);
  if (!found)
    arrays.fail("there is no element '" + path +
                "' where it should be: the file is damaged. Write it again.");
  return *found;
}

std::size_t VtuReader::count(const std::string &what) const
{
  const auto n = piece->get<long long>("<xmlattr>." + what, -1);
  if (n < 0 || n > 2000000000)
    arrays.fail("Piece has no valid " + what + ": the file is damaged. Write it again.");
  return static_cast<std::size_t>(n);
}

std::vector<double> VtuReader::cells(const std::string &name, const std::size_t n) const
{
  const ptree *const array = child_with_name(child(*piece, "Cells"), name);
  if (array == nullptr)
    arrays.fail("Cells has no array '" + name + "': the file is damaged. Write it again.");
  return arrays.numbers(*array, n);
}

void VtuReader::read_points()
{
  const std::size_t n = count("NumberOfPoints");
  const auto x = arrays.numbers(child(*piece, "Points.DataArray"), 3 * n);
  table.points.resize(n);
  for (std::size_t i = 0; i < 3 * n; ++i) {
    if (!std::isfinite(x[i]))
      arrays.fail("point " + std::to_string(i / 3) +
                  " has a coordinate that is no finite number. "
                  "Mend the program or model that made the mesh.");
    table.points[i / 3][i % 3] = x[i];
  }
}

void VtuReader::refuse(const std::size_t cell, const std::string &message) const
{
  throw InputError(table.place_of(cell) + message);
}

std::vector<double> VtuReader::read_ids() const
{
  const auto data = piece->get_child_optional("CellData");
  for (const std::string &name : id_arrays)
    if (const ptree *const array = data ? child_with_name(*data, name) : nullptr) {
      auto ids = arrays.numbers(*array, n_cells);
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (!(std::abs(ids[i]) < 1e15) || ids[i] != std::floor(ids[i]))
          refuse(i, "its " + name + " is " + std::to_string(ids[i]) + ", which is no integer.");
      return ids;
    }
  return std::vector<double>(n_cells, 0.);
}

const VtkKind &VtuReader::kind_of(const std::size_t cell, const double type) const
{
  const int number = type >= 0. && type < 1000. ? static_cast<int>(type) : -1;
  const auto kind = vtk_kinds().find(number);
  if (kind != vtk_kinds().end())
    return kind->second;
  const std::string text = "it is of VTK's type " + std::to_string(number);
  if (number == 13 || number == 14)
    refuse(cell, text + ", a prism or pyramid, which is not supported. " + cure_of_mixed_cells(3));
  if (number > 20)
    refuse(cell, text + ", of higher order. Write cells of first order.");
  refuse(cell, text + ", which is not supported. Triangulate the grid (in ParaView: Triangulate).");
}

void VtuReader::read_cells()
{
  const auto types = cells("types", n_cells), ends = cells("offsets", n_cells), ids = read_ids();
  const double n_nodes = n_cells == 0 ? 0. : ends.back();
  if (!(n_nodes >= 0. && n_nodes < 2e9))
    arrays.fail("the last offset is wrong: the file is damaged. Write it again.");
  const auto nodes = cells("connectivity", static_cast<std::size_t>(n_nodes));
  double first = 0.;
  for (std::size_t i = 0; i < n_cells; ++i) {
    const double n = ends[i] - first;
    if (!(n >= 0. && n < 1e6 && ends[i] <= n_nodes))
      refuse(i, "its offset is wrong: the file is damaged. Write it again.");
    const VtkKind &kind = kind_of(i, types[i]);
    if (n != double(kind.nodes.size()))
      refuse(i, "a " + name_of(kind.kind) + " with " + std::to_string(static_cast<std::size_t>(n)) +
                    " nodes. The file is damaged; write it again.");
    MeshElement element{kind.kind, static_cast<long long>(ids[i]), i, {}};
    for (std::size_t v = 0; v < kind.nodes.size(); ++v) {
      const double node = nodes[static_cast<std::size_t>(first) + kind.nodes[v]];
      if (!(node >= 0. && node < double(table.points.size())))
        refuse(i, "it has a node that there is not. The file is damaged; write it again.");
      element.nodes[v] = static_cast<std::size_t>(node);
    }
    table.elements.push_back(element);
    first = ends[i];
  }
}

MeshTable VtuReader::read()
{
  const ptree &grid = child(arrays.root(), "UnstructuredGrid");
  if (grid.count("Piece") != 1)
    arrays.fail("the grid has " + std::to_string(grid.count("Piece")) +
                " pieces, but must have one. Merge them (in ParaView: Merge Blocks).");
  piece = &grid.get_child("Piece");
  n_cells = count("NumberOfCells");
  read_points();
  read_cells();
  return std::move(table);
}
} // namespace

MeshTable read_vtu_mesh(const std::string &name, const std::string &text)
{
  return VtuReader(name, text).read();
}
} // namespace femgpu
