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
/// Number types in output files. Tables in the file formats use this order.
enum class NumberType
{
  float32,
  float64,
  int32,
  int64,
  uint8
};

constexpr std::size_t size_of(const NumberType type)
{
  return type == NumberType::uint8                                  ? 1
         : type == NumberType::float32 || type == NumberType::int32 ? 4
                                                                    : 8;
}

/// An array for an output file, stored as rows in the file's number type.
struct OutputArray
{
  std::string name;
  NumberType type = NumberType::float32;
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

  /// Converts the first @p n of @p numbers to the file's type and appends them.
  template <class Number>
  void append(const Number *const numbers, const std::size_t n)
  {
    switch (type) {
    case NumberType::float32:
      return append_as<float>(numbers, n);
    case NumberType::float64:
      return append_as<double>(numbers, n);
    case NumberType::int32:
      return append_as<std::int32_t>(numbers, n);
    case NumberType::int64:
      return append_as<std::int64_t>(numbers, n);
    case NumberType::uint8:
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

/// Returns an array of @p n numbers: begin, begin + step, …
inline OutputArray arithmetic_sequence(const std::string &name, const NumberType type,
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

/// Options of node_fields().
struct NodeFieldOptions
{
  bool shares_nodes;     ///< do adjacent cells share nodes?
  NumberType real;       ///< number type of coordinates and fields
  bool has_nodal_fields; ///< include Problem::nodal_fields()
};

/**
 * A solution in the form of ParaView files: nodes, cells as node numbers in VTK's order, fields. If
 * cells share nodes, a rank stores a node once for each material of its adjacent cells. Derived
 * fields depend on gradients and jump between cells; at a shared node they are the mean over the
 * adjacent cells of the same material, including cells of other ranks. Vectors have 3 components,
 * symmetric tensors 6: xx, yy, zz, xy, yz, xz.
 */
struct NodeFields
{
  std::size_t n_cells() const
  {
    return connectivity.n_rows() / n_nodes_of_cell;
  }
  /// Returns VTK's cell type for each cell.
  OutputArray types() const
  {
    return arithmetic_sequence("types", NumberType::uint8, cell_type, 0, n_cells());
  }

  unsigned int cell_type = 0; ///< VTK's cell type of all cells
  std::size_t n_nodes_of_cell = 0;
  OutputArray points;       ///< 3 coordinates per node
  OutputArray connectivity; ///< node numbers of each cell, counted from 0 on this rank
  std::vector<OutputArray> point_data, cell_data;
};

/// Collective. Returns the NodeFields of @p solution, computed in one pass over the cells.
/// @param indicators error indicators of the active cells; may be empty
template <int dim>
NodeFields node_fields(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                       const NodeFieldOptions &options, const dealii::Vector<float> &indicators);
} // namespace femgpu

#endif
