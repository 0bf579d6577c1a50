#include "physics/mesh/mesh_readers.h"

#include "linalg/base/error.h"

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <deal.II/base/utilities.h>

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace femgpu
{
using boost::property_tree::ptree;

namespace
{
/// The cell arrays that may contain ids; the first existing one is used.
const std::vector<std::string> id_arrays = {"material_id", "MaterialID", "gmsh:physical",
                                            "avsucd:material"};

constexpr const char *xml_blanks = " \t\r\n";
const std::string resave_advice = " Save it again, in ParaView with Data Mode Ascii or Binary.";

template <class Number>
std::vector<double> converted(const std::string &bytes)
{
  std::vector<double> numbers(bytes.size() / sizeof(Number));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Number value;
    std::memcpy(&value, bytes.data() + i * sizeof(Number), sizeof(Number));
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

using Conversion = std::vector<double> (*)(const std::string &);

struct NumberType
{
  std::size_t size;
  Conversion convert;
};

const std::map<std::string, NumberType> &number_types()
{
  static const std::map<std::string, NumberType> types = {
      {"Float32", {4, converted<float>}},      {"Float64", {8, converted<double>}},
      {"Int8", {1, converted<std::int8_t>}},   {"UInt8", {1, converted<std::uint8_t>}},
      {"Int16", {2, converted<std::int16_t>}}, {"UInt16", {2, converted<std::uint16_t>}},
      {"Int32", {4, converted<std::int32_t>}}, {"UInt32", {4, converted<std::uint32_t>}},
      {"Int64", {8, converted<std::int64_t>}}, {"UInt64", {8, converted<std::uint64_t>}}};
  return types;
}

std::string attribute(const ptree &element, const std::string &key, const std::string &otherwise)
{
  return element.get<std::string>("<xmlattr>." + key, otherwise);
}

const ptree *child_with_name(const ptree &parent, const std::string &name)
{
  for (const auto &[tag, child] : parent)
    if (tag == "DataArray" && attribute(child, "Name", "") == name)
      return &child;
  return nullptr;
}

/// The data of an array: successive runs of bytes, each raw or encoded in base64.
class Bytes
{
public:
  Bytes(std::string text, const bool is_raw) : text(std::move(text)), is_raw(is_raw)
  {}

  /// Returns the first @p n bytes of the current run; fewer if the text ends.
  std::string peek(const std::size_t n) const
  {
    std::string run = text.substr(at, length(n));
    if (is_raw)
      return run;
    const auto bytes = dealii::Utilities::decode_base64(run);
    return std::string(bytes.begin(), bytes.end()).substr(0, n);
  }
  /// Returns the first @p n bytes of the current run, like peek(), and moves to the next run.
  std::string consume(const std::size_t n)
  {
    std::string bytes = peek(n);
    at = std::min(text.size(), at + length(n));
    return bytes;
  }
  std::size_t size() const
  {
    return text.size();
  }

private:
  std::size_t length(const std::size_t n) const
  {
    return is_raw ? n : (n + 2) / 3 * 4;
  }

  std::string text;
  bool is_raw;
  std::size_t at = 0;
};

/**
 * Reads one file of VTK: XML with numbers as text or in base64, or appended in base64 or as raw
 * bytes. Numbers other than text may be compressed by zlib.
 */
class VtuReader
{
public:
  VtuReader(const std::string &name, const std::string &text)
  {
    table.file = name;
    table.locations_are_lines = false;
    std::string xml = text;
    const std::size_t begin = text.find("<AppendedData");
    if (begin != std::string::npos) { // raw bytes are not XML
      const std::size_t underscore = text.find('_', text.find('>', begin));
      const std::size_t end = text.rfind("</AppendedData>");
      if (underscore == std::string::npos || end == std::string::npos || end <= underscore)
        fail("the appended data have no end: the file is truncated. Write or copy it again.");
      appended = text.substr(underscore + 1, end - underscore - 1);
      xml = text.substr(0, underscore) + text.substr(end);
    }
    try {
      std::istringstream stream(xml);
      boost::property_tree::read_xml(stream, tree);
    }
    catch (const boost::property_tree::xml_parser_error &error) {
      throw InputError(name + ":" + std::to_string(error.line()) + ": the file is not XML (" +
                       error.message() + "): it is damaged or truncated. Write or copy it again.");
    }
    if (tree.count("VTKFile") == 0 || attribute(root(), "type", "") != "UnstructuredGrid")
      fail("the file is not a VTKFile of type UnstructuredGrid." + resave_advice);
    if (attribute(root(), "byte_order", "LittleEndian") != "LittleEndian")
      fail("the byte order is BigEndian." + resave_advice);
    header_size = attribute(root(), "header_type", "UInt32") == "UInt64" ? 8 : 4;
    const std::string compressor = attribute(root(), "compressor", "");
    if (!compressor.empty() && compressor != "vtkZLibDataCompressor")
      fail("the data are compressed by " + compressor +
           ", not by zlib. Save them with Compressor Type ZLib or None.");
    is_compressed = !compressor.empty();
    if (const auto data = root().get_child_optional("AppendedData"))
      appended_is_raw = attribute(*data, "encoding", "raw") == "raw";
  }

  MeshTable read()
  {
    const ptree &grid = child(root(), "UnstructuredGrid");
    if (grid.count("Piece") != 1)
      fail("the grid has " + std::to_string(grid.count("Piece")) +
           " pieces, but must have one. Merge them (in ParaView: Merge Blocks).");
    piece = &grid.get_child("Piece");
    n_cells = count("NumberOfCells");
    read_points();
    read_cells();
    return std::move(table);
  }

private:
  const ptree &root() const
  {
    return tree.get_child("VTKFile");
  }
  const ptree &child(const ptree &parent, const std::string &path) const
  {
    const auto found = parent.get_child_optional(path);
    if (!found)
      fail("element '" + path + "' is missing: the file is damaged. Write it again.");
    return *found;
  }

  std::size_t count(const std::string &what) const
  {
    const auto n = piece->get<long long>("<xmlattr>." + what, -1);
    if (n < 0 || n > 2000000000)
      fail("Piece has no valid " + what + ": the file is damaged. Write it again.");
    return static_cast<std::size_t>(n);
  }

  std::vector<double> text_numbers(const std::string &array_name, const std::string &text,
                                   const std::size_t n) const
  {
    std::vector<double> numbers;
    std::size_t at = text.find_first_not_of(xml_blanks);
    while (at != std::string::npos) {
      const std::size_t end = std::min(text.find_first_of(xml_blanks, at), text.size());
      double number = 0.;
      const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, number);
      if (error == std::errc::invalid_argument || stop != text.data() + end)
        fail("the array '" + array_name + "' has '" +
             text.substr(at, std::min<std::size_t>(end - at, 20)) +
             "' instead of a number. Write the file again.");
      numbers.push_back(number);
      at = text.find_first_not_of(xml_blanks, end);
    }
    if (numbers.size() != n)
      fail("the array '" + array_name + "' has " + std::to_string(numbers.size()) +
           " numbers, but needs " + std::to_string(n) + ". Is the file truncated?");
    return numbers;
  }

  std::string decoded(const std::string &array_name, Bytes bytes) const
  {
    if (is_compressed)
      return decompressed(array_name, std::move(bytes));
    const std::string header = bytes.peek(header_size);
    std::uint64_t size = 0;
    std::memcpy(&size, header.data(), std::min(header.size(), header_size));
    if (header.size() != header_size || size > bytes.size())
      fail("the array '" + array_name + "' is damaged or truncated. Write or copy the file again.");
    return bytes.consume(header_size + size).substr(header_size);
  }

  std::string decompressed(const std::string &array_name, Bytes bytes) const
  {
    const std::string damaged = "the compressed array '" + array_name +
                                "' is damaged or truncated. Write or copy the file again.";
    const auto integers = [this](const std::string &from) {
      return header_size == 8 ? converted<std::uint64_t>(from) : converted<std::uint32_t>(from);
    };
    const auto first = integers(bytes.peek(header_size));
    if (first.empty() || first[0] * static_cast<double>(header_size) > double(bytes.size()))
      fail(damaged);
    const auto n_blocks = static_cast<std::size_t>(first[0]);
    const auto header = integers(bytes.consume((3 + n_blocks) * header_size));
    if (header.size() != 3 + n_blocks)
      fail(damaged);
    const bool has_partial = n_blocks > 0 && header[2] > 0.;
    const double size_of_all = header[1] * double(n_blocks - (has_partial ? 1 : 0)) + header[2];
    if (size_of_all > 1100. * double(bytes.size())) // zlib compresses by a factor of 1032 at most
      fail(damaged);
    double compressed_size = 0.;
    for (std::size_t b = 0; b < n_blocks; ++b)
      compressed_size += header[3 + b];
    if (compressed_size > double(bytes.size()))
      fail(damaged);
    const std::string compressed = bytes.consume(static_cast<std::size_t>(compressed_size));
    std::string result;
    std::size_t at = 0;
    for (std::size_t b = 0; b < n_blocks; ++b) {
      const bool is_partial = b + 1 == n_blocks && has_partial;
      std::string block(static_cast<std::size_t>(header[is_partial ? 2 : 1]), '\0');
      auto size = static_cast<uLongf>(block.size());
      const auto compressed_block_size = static_cast<std::size_t>(header[3 + b]);
      if (at + compressed_block_size > compressed.size() ||
          uncompress(reinterpret_cast<Bytef *>(block.data()), &size,
                     reinterpret_cast<const Bytef *>(compressed.data()) + at,
                     static_cast<uLong>(compressed_block_size)) != Z_OK ||
          size != block.size())
        fail(damaged);
      result += block;
      at += compressed_block_size;
    }
    return result;
  }

  std::vector<double> numbers(const ptree &array, const std::size_t n) const
  {
    const std::string array_name = attribute(array, "Name", "Points");
    const std::string format = attribute(array, "format", "ascii");
    const std::string type = attribute(array, "type", "");
    const auto number_type = number_types().find(type);
    if (number_type == number_types().end())
      fail("the array '" + array_name + "' has numbers of the type '" + type +
           "', which is unknown. Save it with VTK or ParaView.");
    if (format == "ascii")
      return text_numbers(array_name, array.data(), n);
    std::string bytes;
    try {
      if (format == "binary") {
        std::string text = array.data();
        text.erase(
            std::remove_if(text.begin(), text.end(),
                           [](const char c) { return std::strchr(xml_blanks, c) != nullptr; }),
            text.end());
        bytes = decoded(array_name, Bytes(text, /* raw */ false));
      }
      else if (format == "appended") {
        const auto offset = array.get<std::size_t>("<xmlattr>.offset", appended.size());
        if (offset >= appended.size())
          fail("the array '" + array_name +
               "' begins after the end of the appended data: the file is truncated. Write or copy "
               "it again.");
        bytes = decoded(array_name, Bytes(appended.substr(offset), appended_is_raw));
      }
      else
        fail("the array '" + array_name + "' has the unknown format '" + format + "'." +
             resave_advice);
    }
    catch (const InputError &) {
      throw;
    }
    catch (const std::exception &error) { // from the decoder
      fail("the array '" + array_name + "' is not base64 text (" + error.what() + ")." +
           resave_advice);
    }
    if (bytes.size() != n * number_type->second.size)
      fail("the array '" + array_name + "' has " + std::to_string(bytes.size()) +
           " bytes, but needs " + std::to_string(n * number_type->second.size) +
           ". Is the file truncated?");
    return number_type->second.convert(bytes);
  }

  std::vector<double> cells(const std::string &name, const std::size_t n) const
  {
    const ptree *const array = child_with_name(child(*piece, "Cells"), name);
    if (array == nullptr)
      fail("Cells has no array '" + name + "': the file is damaged. Write it again.");
    return numbers(*array, n);
  }

  void read_points()
  {
    const std::size_t n = count("NumberOfPoints");
    const auto x = numbers(child(*piece, "Points.DataArray"), 3 * n);
    table.points.resize(n);
    for (std::size_t i = 0; i < 3 * n; ++i) {
      if (!std::isfinite(x[i]))
        fail("point " + std::to_string(i / 3) +
             " has a coordinate that is not a finite number. Fix the program or model that made "
             "the mesh.");
      table.points[i / 3][i % 3] = x[i];
    }
  }

  std::vector<double> read_ids() const
  {
    const auto data = piece->get_child_optional("CellData");
    for (const std::string &name : id_arrays)
      if (const ptree *const array = data ? child_with_name(*data, name) : nullptr) {
        auto ids = numbers(*array, n_cells);
        for (std::size_t i = 0; i < ids.size(); ++i)
          if (!(std::abs(ids[i]) < 1e15) || ids[i] != std::floor(ids[i]))
            reject(i, "its " + name + " is " + std::to_string(ids[i]) +
                          ", which is not an integer. Write the file again.");
        return ids;
      }
    return std::vector<double>(n_cells, 0.);
  }

  const CellShape *shape_of(const std::size_t cell, const int type) const
  {
    for (const ElementType &known : element_types())
      if (known.vtk == type)
        return known.shape;
    const std::string text = "it has the VTK type " + std::to_string(type);
    if (type > 20)
      reject(cell, text + ", which has higher order. Write cells of first order.");
    reject(cell,
           text + ", which is not supported. Triangulate the grid (in ParaView: Triangulate).");
  }

  void read_cells()
  {
    const auto types = cells("types", n_cells), ends = cells("offsets", n_cells), ids = read_ids();
    const double n_nodes = n_cells == 0 ? 0. : ends.back();
    if (!(n_nodes >= 0. && n_nodes < 2e9))
      fail("the last offset is wrong: the file is damaged. Write it again.");
    const auto nodes = cells("connectivity", static_cast<std::size_t>(n_nodes));
    double first = 0.;
    for (std::size_t i = 0; i < n_cells; ++i) {
      const double n = ends[i] - first;
      if (!(n >= 0. && n < 1e6 && ends[i] <= n_nodes))
        reject(i, "its offset is wrong: the file is damaged. Write it again.");
      const int type = types[i] >= 0. && types[i] < 1000. ? static_cast<int>(types[i]) : -1;
      const bool is_lexicographic = type == 8 || type == 11; // pixels and voxels
      const CellShape *const shape = shape_of(i, is_lexicographic ? type + 1 : type);
      if (n != double(shape->n_nodes))
        reject(i, "a " + shape->name + " with " + std::to_string(static_cast<std::size_t>(n)) +
                      " nodes. The file is damaged; write it again.");
      MeshElement element{shape, static_cast<long long>(ids[i]), i, {}};
      for (std::size_t v = 0; v < shape->n_nodes; ++v) {
        const double node = nodes[static_cast<std::size_t>(first) +
                                  (is_lexicographic ? lexicographic_order[v] : v)];
        if (!(node >= 0. && node < double(table.points.size())))
          reject(i, "one of its nodes does not exist. The file is damaged; write it again.");
        element.nodes[v] = static_cast<std::size_t>(node);
      }
      table.elements.push_back(element);
      first = ends[i];
    }
  }

  [[noreturn]] void fail(const std::string &message) const
  {
    throw InputError(table.file + ": " + message);
  }

  [[noreturn]] void reject(const std::size_t cell, const std::string &message) const
  {
    throw InputError(table.location_of(cell) + message);
  }

  ptree tree;
  std::string appended; ///< the data after the '_' in AppendedData
  bool appended_is_raw = false;
  bool is_compressed = false;
  std::size_t header_size = 4; ///< size in bytes of the integers before an array's data
  const ptree *piece = nullptr;
  std::size_t n_cells = 0;
  MeshTable table;
};
} // namespace

MeshTable read_vtu_mesh(const std::string &name, const std::string &text)
{
  return VtuReader(name, text).read();
}
} // namespace femgpu
