#include "physics/mesh/vtk_cells.h"

#include "linalg/base/error.h"

#include <cmath>
#include <map>

namespace femgpu
{
namespace
{
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

[[noreturn]] void refuse(const std::string &file, const std::size_t cell,
                         const std::string &message)
{
  throw InputError(file + ": cell " + std::to_string(cell) + ": " + message);
}

const VtkKind &kind_of(const std::string &file, const std::size_t cell, const double type)
{
  const int number = type >= 0. && type < 1000. ? static_cast<int>(type) : -1;
  const auto kind = vtk_kinds().find(number);
  if (kind != vtk_kinds().end())
    return kind->second;
  const std::string text = "it is of VTK's type " + std::to_string(number);
  if (number == 13 || number == 14)
    refuse(file, cell,
           text + ", a prism or pyramid, which are not supported. Use quadrilaterals or "
                  "hexahedra alone, or triangles or tetrahedra alone.");
  if (number > 20)
    refuse(file, cell, text + ", of higher order. Write cells of first order.");
  refuse(file, cell,
         text + ", which is not supported. Triangulate the grid (in ParaView: Triangulate).");
}
} // namespace

const std::vector<std::string> &vtk_id_arrays()
{
  static const std::vector<std::string> names = {"material_id", "MaterialID", "gmsh:physical"};
  return names;
}

std::vector<long long> vtk_ids(const std::string &file, const std::string &name,
                               const std::vector<double> &values)
{
  std::vector<long long> ids;
  ids.reserve(values.size());
  for (const double value : values) {
    if (!(std::abs(value) < 1e15) || value != std::floor(value))
      refuse(file, ids.size(),
             "its " + name + " is " + std::to_string(value) + ", which is no integer.");
    ids.push_back(static_cast<long long>(value));
  }
  return ids;
}

void add_vtk_cells(const VtkCells &cells, MeshTable &table)
{
  double first = 0.;
  for (std::size_t i = 0; i < cells.types.size(); ++i) {
    const double n = cells.ends[i] - first;
    if (!(n >= 0. && n < 1e6 && cells.ends[i] <= double(cells.nodes.size())))
      refuse(table.file, i, "its offset is wrong: the file is damaged. Write it again.");
    const VtkKind &kind = kind_of(table.file, i, cells.types[i]);
    if (n != double(kind.nodes.size()))
      refuse(table.file, i,
             "a " + name_of(kind.kind) + " with " + std::to_string(static_cast<std::size_t>(n)) +
                 " nodes. The file is damaged; write it again.");
    MeshElement element{kind.kind, cells.ids[i], i, {}};
    for (std::size_t v = 0; v < kind.nodes.size(); ++v) {
      const double node = cells.nodes[static_cast<std::size_t>(first) + kind.nodes[v]];
      if (!(node >= 0. && node < double(table.points.size())))
        refuse(table.file, i,
               "it has a node that there is not. The file is damaged; write it again.");
      element.nodes[v] = static_cast<std::size_t>(node);
    }
    table.elements.push_back(element);
    first = cells.ends[i];
  }
}
} // namespace femgpu
