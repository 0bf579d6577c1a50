#ifndef femgpu_app_node_fields_h
#define femgpu_app_node_fields_h

#include "physics/residual.h"

#include <deal.II/lac/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace femgpu
{
/// Types of numbers in a file; tables of formats have them in this order.
enum class FileNumber
{
  float32,
  float64,
  int32,
  int64,
  uint8
};

constexpr std::size_t size_of(const FileNumber type)
{
  return type == FileNumber::uint8                                  ? 1
         : type == FileNumber::float32 || type == FileNumber::int32 ? 4
                                                                    : 8;
}

/// Rows of numbers for a file, in memory as there.
struct OutputArray
{
  std::string name;
  FileNumber type = FileNumber::float32;
  std::size_t n_columns = 1;
  std::vector<unsigned char> bytes = {};

  std::size_t row_bytes() const
  {
    return n_columns * size_of(type);
  }
  std::size_t n_rows() const
  {
    return bytes.size() / row_bytes();
  }

  /// Appends n of @p numbers as the type of the file.
  template <class Number>
  void append(const Number *const numbers, const std::size_t n)
  {
    switch (type) {
    case FileNumber::float32:
      return append_as<float>(numbers, n);
    case FileNumber::float64:
      return append_as<double>(numbers, n);
    case FileNumber::int32:
      return append_as<std::int32_t>(numbers, n);
    case FileNumber::int64:
      return append_as<std::int64_t>(numbers, n);
    case FileNumber::uint8:
      return append_as<std::uint8_t>(numbers, n);
    }
  }

private:
  template <class To, class Number>
  void append_as(const Number *const numbers, const std::size_t n)
  {
    const std::size_t before = bytes.size();
    bytes.resize(before + n * sizeof(To));
    for (std::size_t i = 0; i < n; ++i) {
      const To number = static_cast<To>(numbers[i]);
      std::memcpy(bytes.data() + before + i * sizeof(To), &number, sizeof(To));
    }
  }
};

/// begin, begin + step, …: n numbers.
inline OutputArray arithmetic_sequence(const std::string &name, const FileNumber type,
                                       const std::int64_t begin, const std::int64_t step,
                                       const std::size_t n)
{
  std::vector<std::int64_t> numbers(n, begin);
  for (std::size_t i = 0; i < n; ++i)
    numbers[i] += step * static_cast<std::int64_t>(i);
  OutputArray result = {name, type};
  result.append(numbers.data(), n);
  return result;
}

/// How a solution is written.
struct NodeFieldOptions
{
  bool shares_nodes;     ///< have cells nodes in common, or each its own?
  FileNumber real;       ///< of coordinates and fields
  bool has_nodal_fields; ///< with Problem::nodal_fields()
};

/**
 * A solution as files for ParaView have it: nodes, cells by the numbers of their nodes in VTK's
 * order, and fields. Cells that share their nodes have each once for every material that a rank has
 * there; what is derived from gradients, which jump from cell to cell, then is the mean of the
 * cells of a material around a node, those of other ranks too. Vectors have 3 components, symmetric
 * tensors 6: xx, yy, zz, xy, yz, xz.
 */
struct NodeFields
{
  std::size_t n_cells() const
  {
    return connectivity.n_rows() / n_nodes_of_cell;
  }
  /// VTK's number of the type of all cells, for each.
  OutputArray types() const
  {
    return arithmetic_sequence("types", FileNumber::uint8, cell_type, 0, n_cells());
  }

  unsigned int cell_type = 0; ///< VTK's number
  std::size_t n_nodes_of_cell = 0;
  OutputArray points;       ///< 3 coordinates of each node
  OutputArray connectivity; ///< nodes of each cell by their numbers on this rank, from 0
  std::vector<OutputArray> at_nodes, in_cells;
};

/// Collective, by one pass over the cells. @param indicators of active cells; empty: none
template <int dim>
NodeFields node_fields(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                       const NodeFieldOptions &options, const dealii::Vector<float> &indicators);
} // namespace femgpu

#endif
