#include "physics/mesh/vtu_mesh.h"

#include "physics/mesh/vtk_cells.h"
#include "physics/mesh/vtu_arrays.h"

#include <cmath>

namespace femgpu
{
using boost::property_tree::ptree;

namespace
{
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
  std::vector<long long> read_ids() const;
  void read_cells();

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

std::vector<long long> VtuReader::read_ids() const
{
  const auto data = piece->get_child_optional("CellData");
  for (const std::string &name : vtk_id_arrays())
    if (const ptree *const array = data ? child_with_name(*data, name) : nullptr)
      return vtk_ids(table.file, name, arrays.numbers(*array, n_cells));
  return std::vector<long long>(n_cells, 0);
}

void VtuReader::read_cells()
{
  VtkCells found = {cells("types", n_cells), cells("offsets", n_cells), {}, read_ids()};
  const double n_nodes = n_cells == 0 ? 0. : found.ends.back();
  if (!(n_nodes >= 0. && n_nodes < 2e9))
    arrays.fail("the last offset is wrong: the file is damaged. Write it again.");
  found.nodes = cells("connectivity", static_cast<std::size_t>(n_nodes));
  add_vtk_cells(found, table);
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
