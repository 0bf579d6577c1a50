#include "app/deflate.h"
#include "app/output_format.h"
#include "common/atomic_file.h"
#include "physics/base/collective.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iomanip>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
/// The first bytes of the files, by which remove_stale_files() recognises them.
constexpr char xml_head[] = "<?xml version=\"1.0\"?>\n<!-- Written by femgpu -->\n";

/// Compresses @p bytes in blocks and appends them as VTK files store them: the number and lengths
/// of the blocks, then the blocks in zlib's format.
void append_compressed(const std::vector<unsigned char> &bytes, std::string &data)
{
  constexpr std::uint32_t block = std::uint32_t{1} << 20;
  std::vector<std::uint32_t> header = {
      static_cast<std::uint32_t>((bytes.size() + block - 1) / block), block,
      static_cast<std::uint32_t>(bytes.size() % block)};
  const std::size_t header_begin = data.size();
  data.resize(header_begin + (header.size() + header[0]) * sizeof(header[0]));
  for (std::size_t begin = 0; begin < bytes.size(); begin += block) {
    const auto compressed =
        deflated(bytes.data() + begin, std::min<std::size_t>(block, bytes.size() - begin));
    header.push_back(static_cast<std::uint32_t>(compressed.size()));
    data.append(compressed.begin(), compressed.end());
  }
  std::memcpy(&data[header_begin], header.data(), header.size() * sizeof(header[0]));
}

std::string attributes_of(const OutputArray &array)
{
  constexpr const char *types[] = {"Float32", "Float64", "Int32", "Int64", "UInt8"};
  return std::string(" type=\"") + types[static_cast<int>(array.type)] + "\" Name=\"" + array.name +
         "\" NumberOfComponents=\"" + std::to_string(array.n_columns) + "\"";
}

/// Writes an XML element with arrays, each formatted by @p line.
template <class Arrays, class Line>
void add_arrays(std::ostream &out, const std::string &tag, const Arrays &arrays, const Line &line)
{
  out << '<' << tag << ">\n";
  for (const OutputArray &array : arrays)
    out << line(array) << '\n';
  out << "</" << tag << ">\n";
}

/// Returns the version of the format, which determines the node order of Lagrange cells. Linear
/// cells use the older version, because some readers do not support the newer one.
const char *version_of(const NodeFields &fields)
{
  constexpr unsigned int last_linear = 12; // VTK's cell type of hexahedra
  return fields.cell_type > last_linear ? "2.2" : "1.0";
}

/// Writes a VTK file of type @p type. @param data the appended data of its arrays; may be empty
void add_file(std::ostream &out, const std::string &type, const std::string &version,
              const std::string &attributes, const std::string &content,
              const std::string &data = "")
{
  out << xml_head << "<VTKFile type=\"" << type << "\" version=\"" << version
      << "\" byte_order=\"LittleEndian\" header_type=\"UInt32\" "
         "compressor=\"vtkZLibDataCompressor\">\n<"
      << type << attributes << ">\n"
      << content << "</" << type << ">\n";
  if (!data.empty())
    out << "<AppendedData encoding=\"raw\">\n_" << data << "\n</AppendedData>\n";
  out << "</VTKFile>\n";
}

/// Writes the XML element `Piece` with the cells of a rank; @p line formats each array.
template <class Line>
void add_piece(std::ostream &out, const NodeFields &fields, const Line &line)
{
  const auto n = static_cast<std::int64_t>(fields.n_nodes_of_cell);
  const OutputArray types = fields.types(),
                    offsets =
                        arithmetic_sequence("offsets", NumberType::int32, n, n, fields.n_cells());
  out << "<Piece NumberOfPoints=\"" << fields.points.n_rows() << "\" NumberOfCells=\""
      << fields.n_cells() << "\">\n";
  add_arrays(out, "Points", std::array{std::cref(fields.points)}, line);
  add_arrays(out, "Cells",
             std::array{std::cref(fields.connectivity), std::cref(offsets), std::cref(types)},
             line);
  add_arrays(out, "PointData", fields.point_data, line);
  add_arrays(out, "CellData", fields.cell_data, line);
  out << "</Piece>\n";
}

/// The XML text of pieces, and the data of their arrays, which are appended to the file.
struct Pieces
{
  std::string version, text, data;
};

/// Returns the piece with the cells of this rank.
/// @param first_of function that receives the number of bytes of this piece's data and returns the
/// offset of these data in the appended data of the file
template <class FirstOf>
Pieces piece_of(const NodeFields &fields, const FirstOf &first_of)
{
  Pieces piece{version_of(fields), {}, {}};
  std::vector<std::size_t> offsets;
  std::ostringstream text;
  add_piece(text, fields, [&](const OutputArray &array) {
    offsets.push_back(piece.data.size());
    append_compressed(array.bytes, piece.data);
    return "";
  });
  text.str("");
  std::size_t k = 0;
  add_piece(text, fields, [&, first = first_of(piece.data.size())](const OutputArray &array) {
    return "<DataArray" + attributes_of(array) + " format=\"appended\" offset=\"" +
           std::to_string(static_cast<std::size_t>(first) + offsets[k++]) + "\"/>";
  });
  piece.text = text.str();
  return piece;
}

/// Returns the text of the .pvtu file.
std::string make_pvtu_text(const NodeFields &fields, const std::vector<std::string> &pieces)
{
  const auto line = [](const OutputArray &array) {
    return "<PDataArray" + attributes_of(array) + "/>";
  };
  std::ostringstream content, text;
  add_arrays(content, "PPoints", std::array{std::cref(fields.points)}, line);
  add_arrays(content, "PPointData", fields.point_data, line);
  add_arrays(content, "PCellData", fields.cell_data, line);
  for (const std::string &piece : pieces)
    content << "<Piece Source=\"" << piece << "\"/>\n";
  add_file(text, "PUnstructuredGrid", version_of(fields), " GhostLevel=\"0\"", content.str());
  return text.str();
}

void write_vtu(const std::string &path, const bool has_converged, const Pieces &pieces)
{
  const char *const mark =
      has_converged ? ""
                    : "<FieldData>\n<DataArray type=\"Int32\" Name=\"converged\" "
                      "NumberOfTuples=\"1\" format=\"ascii\">0</DataArray>\n</FieldData>\n";
  AtomicFile file(path);
  add_file(file.stream(), "UnstructuredGrid", pieces.version, "", mark + pieces.text, pieces.data);
  file.commit();
}

SolutionFiles vtu_files(const OutputParameters &parameters, NodeFields &&fields,
                        const std::string &base, const bool has_converged, MPI_Comm comm)
{
  constexpr unsigned int max_files = 64;
  const unsigned int n_ranks = Utilities::MPI::n_mpi_processes(comm),
                     rank = Utilities::MPI::this_mpi_process(comm),
                     requested = parameters.files_per_cycle;
  const unsigned int n_files = std::min(n_ranks, requested > 0 ? requested : max_files);
  SolutionFiles files;
  for (unsigned int file = 0; file < n_files; ++file)
    files.names.push_back(base + "." + Utilities::int_to_string(file, 3) + ".vtu");
  files.pvtu_text = make_pvtu_text(fields, files.names);
  const std::size_t mine = std::size_t(rank) * n_files / n_ranks;
  const std::string path = parameters.path_of(files.names[mine]);
  if (n_files == n_ranks) { // write() runs in a thread, which compresses the data, too
    files.write = [fields = std::move(fields), path, has_converged] {
      write_vtu(path, has_converged, piece_of(fields, [](std::uint64_t) { return 0; }));
    };
    return files;
  }
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_split(comm, static_cast<int>(mine), static_cast<int>(rank), &group);
  Pieces pieces = piece_of(fields, [&](const std::uint64_t bytes) {
    std::uint64_t before = 0; // MPI_Exscan() does not set it on rank 0
    MPI_Exscan(&bytes, &before, 1, MPI_UINT64_T, MPI_SUM, group);
    return before;
  });
  pieces = {pieces.version, gather(std::move(pieces.text), group),
            gather(std::move(pieces.data), group)};
  if (Utilities::MPI::this_mpi_process(group) == 0)
    files.write = [pieces = std::move(pieces), path, has_converged] {
      write_vtu(path, has_converged, pieces);
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

const OutputFormat vtu_format = {false, ".pvtu", ".pvd", vtu_files, pvd_text};
} // namespace femgpu
