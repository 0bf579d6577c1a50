#include "physics/mesh/vtu_cells.h"

#include "physics/mesh/mesh_table.h"

#include <utility>

namespace femgpu
{
namespace
{
void write_array(std::ostream &out, const std::string &attributes,
                 const std::ostringstream &numbers)
{
  out << "<DataArray " << attributes << " format=\"ascii\">" << numbers.str() << "</DataArray>\n";
}

/// VTK's number of the type of a cell.
const char *vtk_type(const int dimension, const std::size_t n_vertices)
{
  if (dimension == 1)
    return " 3";
  if (dimension == 2)
    return n_vertices == 3 ? " 5" : " 9";
  return n_vertices == 8 ? " 12" : " 10";
}
} // namespace

VtuCells::VtuCells(std::vector<std::string> of) : names(std::move(of)), of_points(names.size())
{
  points.precision(17);
  for (std::ostringstream &array : of_points)
    array.precision(17);
}

void VtuCells::add(const std::vector<std::array<double, 3>> &vertices, const int dimension,
                   const std::vector<double> &numbers)
{
  const bool is_cube = vertices.size() == 1U << dimension;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    for (const double x : vertices[is_cube ? lexicographic_order[v] : v])
      points << ' ' << x;
    nodes << ' ' << n_points++;
    for (std::size_t a = 0; a < numbers.size(); ++a)
      of_points[a] << ' ' << numbers[a];
  }
  ends << ' ' << n_points;
  types << vtk_type(dimension, vertices.size());
  ++n_cells;
}

std::string VtuCells::text() const
{
  std::ostringstream out;
  out << "<!-- Written by femgpu -->\n<VTKFile type=\"UnstructuredGrid\" "
         "version=\"0.1\">\n<UnstructuredGrid>\n"
      << "<Piece NumberOfPoints=\"" << n_points << "\" NumberOfCells=\"" << n_cells
      << "\">\n<Points>\n";
  write_array(out, "type=\"Float64\" NumberOfComponents=\"3\"", points);
  out << "</Points>\n<Cells>\n";
  write_array(out, "type=\"Int64\" Name=\"connectivity\"", nodes);
  write_array(out, "type=\"Int64\" Name=\"offsets\"", ends);
  write_array(out, "type=\"UInt8\" Name=\"types\"", types);
  out << "</Cells>\n<PointData>\n";
  for (std::size_t a = 0; a < names.size(); ++a)
    write_array(out, "type=\"Float64\" Name=\"" + names[a] + "\"", of_points[a]);
  out << "</PointData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  return out.str();
}
} // namespace femgpu
