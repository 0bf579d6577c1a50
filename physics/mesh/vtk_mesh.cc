#include "physics/mesh/vtk_mesh.h"

#include "physics/mesh/mesh_text.h"
#include "physics/mesh/vtk_cells.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>

namespace femgpu
{
namespace
{
std::string upper(std::string text)
{
  std::transform(text.begin(), text.end(), text.begin(),
                 [](const unsigned char c) { return std::toupper(c); });
  return text;
}

bool is_of_ids(const std::string &array)
{
  const auto &names = vtk_id_arrays();
  return std::find(names.begin(), names.end(), array) != names.end();
}

/// Numbers stand in lines as the writer likes; words begin a line.
class VtkReader
{
public:
  VtkReader(const std::string &name, const std::string &text) : text(name, text)
  {
    table.file = name;
    table.places_are_lines = false;
  }

  MeshTable read();

private:
  void read_header();
  std::string keyword();
  std::vector<double> numbers(std::size_t n, const std::string &what);
  void read_points();
  void read_cells();
  void read_counted_nodes(std::size_t n, std::size_t size);
  void read_offsets(std::size_t n, std::size_t size);
  void read_types();
  void read_scalars();
  void read_array_of_field(const std::string &array);
  void read_attribute();
  void read_section();

  MeshText text;
  MeshTable table;
  VtkCells cells;
  std::map<std::string, std::vector<double>> id_arrays;
  bool has_types = false;
  bool are_of_cells = false; ///< the arrays that are being read
};

/// The first word of the line, in capitals.
std::string VtkReader::keyword()
{
  return upper(std::string(text.word()));
}

std::vector<double> VtkReader::numbers(const std::size_t n, const std::string &what)
{
  std::vector<double> values;
  values.reserve(n);
  while (values.size() < n) {
    if (text.rest().empty())
      text.require_line(what + " " + std::to_string(values.size() + 1) + " of " +
                        std::to_string(n));
    while (values.size() < n && !text.rest().empty())
      values.push_back(text.coordinate(what));
  }
  text.require_end_of_line(what);
  return values;
}

void VtkReader::read_header()
{
  if (!text.next_line() || upper(std::string(text.line())).rfind("# VTK DATAFILE VERSION", 0) != 0)
    text.fail("the file does not begin with '# vtk DataFile Version': it is no legacy file of VTK, "
              "or damaged.");
  for (int i = 0; i < 2; ++i) { // the title may be blank
    text.require_line("ASCII");
    const std::string line = upper(std::string(text.line()));
    if (line == "BINARY")
      text.fail("the file is binary. Save it as ASCII.");
    if (line == "ASCII")
      break;
    if (i == 1)
      text.fail(in_quotes(text.line()) + " stands where ASCII should be.");
  }
  text.require_line("DATASET UNSTRUCTURED_GRID");
  if (keyword() != "DATASET" || keyword() != "UNSTRUCTURED_GRID")
    text.fail(in_quotes(text.line()) +
              " stands where DATASET UNSTRUCTURED_GRID should be. Save the "
              "mesh as an unstructured grid (in ParaView: Append "
              "Datasets).");
}

void VtkReader::read_points()
{
  const std::size_t n = text.count("the number of points", text.bytes_left() / 6 + 1);
  if (text.word().empty())
    text.fail("the line ends where the type of the coordinates should be. Is the file truncated?");
  const auto x = numbers(3 * n, "coordinate");
  table.points.resize(n);
  for (std::size_t i = 0; i < x.size(); ++i)
    table.points[i / 3][i % 3] = x[i];
}

/// Version 2 to 4.2
void VtkReader::read_counted_nodes(const std::size_t n, const std::size_t size)
{
  const auto words = numbers(size, "node or number of nodes");
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double n_nodes = at < size ? words[at++] : -1.;
    if (!(n_nodes >= 0. && n_nodes <= double(size - at) && n_nodes == std::floor(n_nodes)))
      text.fail("the nodes of cell " + std::to_string(i) + " do not fit into the " +
                std::to_string(size) + " numbers of CELLS. The file is damaged; write it again.");
    for (const std::size_t end = at + static_cast<std::size_t>(n_nodes); at < end; ++at)
      cells.nodes.push_back(words[at]);
    cells.ends.push_back(static_cast<double>(cells.nodes.size()));
  }
  if (at != size)
    text.fail("CELLS has " + std::to_string(size - at) +
              " numbers more than its cells need. The "
              "file is damaged; write it again.");
}

/// Version 5: @p n offsets, of which the first is zero, and @p size nodes.
void VtkReader::read_offsets(const std::size_t n, const std::size_t size)
{
  cells.ends = numbers(n, "offset");
  if (!cells.ends.empty()) {
    if (cells.ends.front() != 0.)
      text.fail("the first offset of the cells is not 0. The file is damaged; write it again.");
    cells.ends.erase(cells.ends.begin());
  }
  text.require_line("CONNECTIVITY");
  if (keyword() != "CONNECTIVITY")
    text.fail(in_quotes(text.line()) + " stands where CONNECTIVITY should be.");
  text.word();
  cells.nodes = numbers(size, "node");
}

void VtkReader::read_cells()
{
  const std::size_t n = text.count("the number of cells", text.bytes_left() / 2 + 1);
  const std::size_t size = text.count("the number of nodes", text.bytes_left() / 2 + 1);
  text.require_end_of_line("the numbers of CELLS");
  const MeshText before = text;
  text.require_line("the nodes of the cells");
  if (keyword() == "OFFSETS") {
    text.word(); // its type
    read_offsets(n, size);
  }
  else {
    text = before;
    read_counted_nodes(n, size);
  }
}

void VtkReader::read_types()
{
  const std::size_t n = text.count("the number of types", text.bytes_left() / 2 + 1);
  if (n != cells.ends.size())
    text.fail("there are " + std::to_string(n) + " types of " + std::to_string(cells.ends.size()) +
              " cells. The file is damaged; write it again.");
  cells.types = numbers(n, "type of a cell");
  has_types = true;
}

/// SCALARS NAME TYPE [COMPONENTS], LOOKUP_TABLE TABLE, and the values
void VtkReader::read_scalars()
{
  const std::string array(text.word());
  if (!is_of_ids(array))
    return;
  if (text.word().empty())
    text.fail("the line ends where the type of " + array + " should be. Is the file truncated?");
  text.require_line("LOOKUP_TABLE");
  if (keyword() != "LOOKUP_TABLE" || text.word().empty())
    text.fail(in_quotes(text.line()) + " stands where 'LOOKUP_TABLE default' should be.");
  id_arrays[array] = numbers(cells.ends.size(), array);
}

/// NAME COMPONENTS TUPLES TYPE and the values
void VtkReader::read_array_of_field(const std::string &array)
{
  if (text.integer("the components of " + array) != 1 ||
      text.integer("the tuples of " + array) != static_cast<long long>(cells.ends.size()))
    text.fail("the array " + in_quotes(array) + " does not have one number for each of the " +
              std::to_string(cells.ends.size()) + " cells. The file is damaged; write it again.");
  if (text.word().empty())
    text.fail("the line ends where the type of " + array + " should be. Is the file truncated?");
  id_arrays[array] = numbers(cells.ends.size(), array);
}

/// Arrays of cells; all but ids are passed over.
void VtkReader::read_attribute()
{
  std::string word(text.word());
  if (upper(word) == "FIELD") {
    text.require_line("the first array of the field");
    word = text.word();
  }
  if (upper(word) == "SCALARS")
    read_scalars();
  else if (is_of_ids(word))
    read_array_of_field(word);
}

/// A section or an array, whose line has just been read.
void VtkReader::read_section()
{
  const MeshText line = text;
  const std::string section = keyword();
  if (section == "POINTS")
    read_points();
  else if (section == "CELLS")
    read_cells();
  else if (section == "CELL_TYPES")
    read_types();
  else if (section == "CELL_DATA") {
    are_of_cells = true;
    if (text.count("the number of cells", cells.ends.size()) != cells.ends.size())
      text.fail("the data are not of all " + std::to_string(cells.ends.size()) +
                " cells. Is the file truncated?");
    text.require_line("an array of the cells");
    read_attribute();
  }
  else if (section == "POINT_DATA")
    are_of_cells = false;
  else if (are_of_cells) {
    text = line;
    read_attribute();
  }
}

MeshTable VtkReader::read()
{
  read_header();
  while (text.next_line())
    read_section();
  if (!has_types)
    text.fail("the file ends before CELL_TYPES: it is truncated. Write or copy it again.");
  cells.ids.assign(cells.ends.size(), 0);
  for (const std::string &array : vtk_id_arrays())
    if (const auto found = id_arrays.find(array); found != id_arrays.end()) {
      cells.ids = vtk_ids(table.file, array, found->second);
      break;
    }
  add_vtk_cells(cells, table);
  return std::move(table);
}
} // namespace

MeshTable read_vtk_mesh(const std::string &name, const std::string &text)
{
  return VtkReader(name, text).read();
}
} // namespace femgpu
