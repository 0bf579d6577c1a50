#include "app/gather.h"
#include "app/output_format.h"
#include "common/atomic_file.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <sstream>

#include <zlib.h>

namespace femgpu
{
using namespace dealii;

namespace
{
/// By which former_files.h knows these files.
constexpr char xml_head[] = "<?xml version=\"1.0\"?>\n<!-- Written by femgpu -->\n";

/// Blocks by zlib behind their number and lengths, as VTK's files have them.
std::string compressed(const std::vector<unsigned char> &bytes)
{
  constexpr std::size_t block = std::size_t{1} << 20;
  const std::size_t n_blocks = (bytes.size() + block - 1) / block;
  std::vector<std::uint32_t> header = {static_cast<std::uint32_t>(n_blocks), block,
                                       static_cast<std::uint32_t>(bytes.size() % block)};
  std::vector<unsigned char> blocks(n_blocks * compressBound(block));
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < bytes.size(); begin += block) {
    uLongf length = blocks.size() - end;
    compress2(blocks.data() + end, &length, bytes.data() + begin,
              std::min(block, bytes.size() - begin), Z_BEST_SPEED);
    header.push_back(static_cast<std::uint32_t>(length));
    end += length;
  }
  blocks.resize(end);
  const auto *const head = reinterpret_cast<const unsigned char *>(header.data());
  return Utilities::encode_base64({head, head + header.size() * sizeof(header[0])}) +
         Utilities::encode_base64(blocks);
}

std::string attributes_of(const OutputArray &array)
{
  const char *const type = array.type == FileNumber::float32   ? "Float32"
                           : array.type == FileNumber::float64 ? "Float64"
                           : array.type == FileNumber::uint8   ? "UInt8"
                                                               : "Int32";
  return std::string(" type=\"") + type + "\" Name=\"" + array.name + "\" NumberOfComponents=\"" +
         std::to_string(array.n_columns) + "\"";
}

/// An element of arrays, each as @p line writes it.
template <class Arrays, class Line>
void add_arrays(std::ostream &out, const std::string &tag, const Arrays &arrays, const Line &line)
{
  out << '<' << tag << ">\n";
  for (const OutputArray &array : arrays)
    out << line(array) << '\n';
  out << "</" << tag << ">\n";
}

/// A file of a @p type of VTK's; @p add_content gets the stream.
template <class AddContent>
void add_file(std::ostream &out, const std::string &type, const std::string &attributes,
              const AddContent &add_content)
{
  out << xml_head << "<VTKFile type=\"" << type
      << "\" version=\"2.2\" byte_order=\"LittleEndian\" header_type=\"UInt32\" "
         "compressor=\"vtkZLibDataCompressor\">\n<"
      << type << attributes << ">\n";
  add_content(out);
  out << "</" << type << ">\n</VTKFile>\n";
}

/// The cells of a rank.
template <int dim>
void add_piece(std::ostream &out, const NodeFields<dim> &fields)
{
  const auto line = [](const OutputArray &array) {
    return "<DataArray" + attributes_of(array) + " format=\"binary\">" + compressed(array.bytes) +
           "</DataArray>";
  };
  const auto n = static_cast<std::int64_t>(fields.n_nodes_of_cell);
  const OutputArray types = fields.types(),
                    offsets =
                        arithmetic_sequence("offsets", FileNumber::int32, n, n, fields.n_cells());
  out << "<Piece NumberOfPoints=\"" << fields.points.n_rows() << "\" NumberOfCells=\""
      << fields.n_cells() << "\">\n";
  add_arrays(out, "Points", std::array{std::cref(fields.points)}, line);
  add_arrays(out, "Cells",
             std::array{std::cref(fields.connectivity), std::cref(offsets), std::cref(types)},
             line);
  add_arrays(out, "PointData", fields.at_nodes, line);
  add_arrays(out, "CellData", fields.in_cells, line);
  out << "</Piece>\n";
}

/// What the .pvtu says.
template <int dim>
std::string record_text(const NodeFields<dim> &fields, const std::vector<std::string> &pieces)
{
  const auto line = [](const OutputArray &array) {
    return "<PDataArray" + attributes_of(array) + "/>";
  };
  std::ostringstream text;
  add_file(text, "PUnstructuredGrid", " GhostLevel=\"0\"", [&](std::ostream &out) {
    add_arrays(out, "PPoints", std::array{std::cref(fields.points)}, line);
    add_arrays(out, "PPointData", fields.at_nodes, line);
    add_arrays(out, "PCellData", fields.in_cells, line);
    for (const std::string &piece : pieces)
      out << "<Piece Source=\"" << piece << "\"/>\n";
  });
  return text.str();
}

/// One file; @p add_pieces gets the stream.
template <class AddPieces>
void write_vtu(const std::string &path, const bool has_converged, const AddPieces &add_pieces)
{
  AtomicFile file(path);
  add_file(file.stream(), "UnstructuredGrid", "", [&](std::ostream &out) {
    if (!has_converged)
      out << "<FieldData>\n<DataArray type=\"Int32\" Name=\"converged\" NumberOfTuples=\"1\" "
             "format=\"ascii\">0</DataArray>\n</FieldData>\n";
    add_pieces(out);
  });
  file.commit();
}

std::vector<std::string> names_of_pieces(const std::string &base, const unsigned int n)
{
  std::vector<std::string> names;
  for (unsigned int piece = 0; piece < n; ++piece) {
    std::ostringstream file;
    file << base << '.' << std::setw(3) << std::setfill('0') << piece << ".vtu";
    names.push_back(file.str());
  }
  return names;
}

template <int dim>
SolutionFiles files_of(const OutputParameters &parameters, NodeFields<dim> &&fields,
                       const std::string &base, const bool has_converged, MPI_Comm comm)
{
  constexpr unsigned int most_files = 16;
  const unsigned int n_ranks = Utilities::MPI::n_mpi_processes(comm),
                     rank = Utilities::MPI::this_mpi_process(comm),
                     wanted = parameters.files_per_cycle;
  const unsigned int n_files = std::min(n_ranks, wanted > 0 ? wanted : most_files);
  SolutionFiles files;
  files.names = names_of_pieces(base, n_files);
  files.record = record_text(fields, files.names);
  const std::size_t mine = std::size_t(rank) * n_files / n_ranks;
  const std::string path = parameters.path_of(files.names[mine]);
  if (n_files == n_ranks) { // compressed by the thread
    files.write = [fields = std::move(fields), path, has_converged] {
      write_vtu(path, has_converged, [&](std::ostream &out) { add_piece(out, fields); });
    };
    return files;
  }
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_split(comm, static_cast<int>(mine), static_cast<int>(rank), &group);
  std::ostringstream piece;
  add_piece(piece, fields);
  std::string pieces = gather(piece.str(), MPI_CHAR, group);
  if (Utilities::MPI::this_mpi_process(group) == 0)
    files.write = [pieces = std::move(pieces), path, has_converged] {
      write_vtu(path, has_converged, [&](std::ostream &out) { out << pieces; });
    };
  MPI_Comm_free(&group);
  return files;
}

std::string pvd_text(const OutputSeries &series)
{
  std::ostringstream text;
  text << xml_head
       << "<VTKFile type=\"Collection\" version=\"0.1\" "
          "byte_order=\"LittleEndian\">\n<Collection>\n"
       << std::setprecision(12);
  for (const auto &[time, file] : series)
    text << "<DataSet timestep=\"" << time << "\" group=\"\" part=\"0\" file=\"" << file
         << "\"/>\n";
  text << "</Collection>\n</VTKFile>\n";
  return text.str();
}
} // namespace

template <int dim>
OutputFormat<dim> vtu_format(const OutputParameters &parameters)
{
  return {false, ".pvtu", ".pvd",
          [&parameters](NodeFields<dim> &&fields, const auto &...others) {
            return files_of(parameters, std::move(fields), others...);
          },
          pvd_text};
}

template OutputFormat<2> vtu_format(const OutputParameters &);
template OutputFormat<3> vtu_format(const OutputParameters &);
} // namespace femgpu
