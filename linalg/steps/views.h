#ifndef femgpu_linalg_steps_views_h
#define femgpu_linalg_steps_views_h

#include "linalg/base/row_starts.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

/**
 * @file
 * Views of the matrix formats, for use in kernels with a matrix-vector product (ProductStep,
 * steps.h). Value is the type in which values are stored; sums are in double precision.
 */
namespace femgpu::linalg
{
/// A view of an array in device memory, each entry of which a product reads only once.
template <class T>
struct ReadOnce
{
  const T *data;
  std::uint64_t policy; ///< policy for the L2 cache, returned by cache_policy()

  FEMGPU_HD
  T operator[](const std::size_t k) const
  {
    return load_once(data + k, policy);
  }
};

/// A view of every stride-th entry of an array, starting with the first.
template <class Array, class Index>
struct Strided
{
  Array entries;
  Index stride;

  FEMGPU_HD
  auto operator[](const unsigned int k) const
  {
    return entries[k * stride];
  }
};
template <class Array, class Index>
Strided(Array, Index) -> Strided<Array, Index>;

/**
 * Returns the sum of values[k] v[column_of[k]] over the entries k = lane, lane + n_lanes, ... of a
 * row with @p length entries, in this order. On a GPU the loads of @p batch entries are in flight
 * at once. A load beyond the end of the row reads the last entry again, which is in the cache, but
 * does not add it: conditional loads would wait for each other.
 * @param v a vector (const double *), or several (RowParts), whose products are returned together
 */
template <int batch, class Values, class Columns, class Vectors>
FEMGPU_HD
auto strided_product(const Values &values, const Columns &column_of, const int lane,
                     const int n_lanes, const int length, const Vectors &v)
{
  using Element = std::decay_t<decltype(v[0])>;
  constexpr int n_in_flight = is_for_gpu ? batch : 1;
  Element sum{};
  for (int first = lane; first < length; first += n_in_flight * n_lanes) {
    const auto entry = [&](const int e) {
      const int k = first + e * n_lanes;
      return static_cast<unsigned int>(n_in_flight > 1 && length - 1 < k ? length - 1 : k);
    };
    std::decay_t<decltype(values[0U])> a[n_in_flight];
    int columns[n_in_flight];
    FEMGPU_UNROLL
    for (int e = 0; e < n_in_flight; ++e)
      a[e] = values[entry(e)];
    FEMGPU_UNROLL
    for (int e = 0; e < n_in_flight; ++e)
      columns[e] = column_of[entry(e)];
    Element v_j[n_in_flight];
    FEMGPU_UNROLL
    for (int e = 0; e < n_in_flight; ++e)
      v_j[e] = v[columns[e]];
    FEMGPU_UNROLL
    for (int e = 0; e < n_in_flight; ++e)
      if (first + e * n_lanes < length)
        sum += static_cast<double>(a[e]) * v_j[e];
  }
  return sum;
}

/// Compressed sparse rows: entries row_starts[i] <= k < row_starts[i+1] belong to row i.
template <class Value>
struct CsrView
{
  int n;
  int lanes;
  RowStarts row_starts; ///< n + 1 starts
  const int *columns;   ///< one per entry, ascending in each row
  const Value *values;  ///< one per entry

  FEMGPU_HD
  int row(const int position) const
  {
    return position;
  }

  FEMGPU_HD
  RowEntries<Value> entries(const int i) const
  {
    const std::size_t begin = row_starts[i];
    return {row_starts.length(i), columns + begin, values + begin};
  }

  template <class Vectors>
  FEMGPU_HD
  auto row_product(const int i, const int lane, const int n_lanes, const Vectors &v) const
  {
    const RowEntries<Value> row = entries(i);
    return strided_product<4>(row.values, row.columns, lane, n_lanes, row.length, v);
  }

  /// Returns (|A||v|)_i.
  FEMGPU_HD
  double row_magnitude(const int i, const double *v) const
  {
    const RowEntries<Value> row = entries(i);
    double sum = 0.;
    for (int k = 0; k < row.length; ++k)
      sum += fabs(row.values[k] * v[row.columns[k]]);
    return sum;
  }

  /// Returns the position of A_ii in its row; -1 if there is no such entry.
  FEMGPU_HD
  int diagonal_entry(const int i) const
  {
    const RowEntries<Value> row = entries(i);
    for (int k = 0; k < row.length; ++k)
      if (row.columns[k] == i)
        return k;
    return -1;
  }

  /// Returns A_ii; 0 if there is no such entry.
  FEMGPU_HD
  double diagonal(const int i) const
  {
    const int k = diagonal_entry(i);
    return k < 0 ? 0. : static_cast<double>(entries(i).values[k]);
  }
};

/**
 * ELLPACK-R and ELLR-T (Galiano et al. 2012, §4 and §5.1). Entry k of row i is at (k / T) stride +
 * i T + k % T, so that the T lanes of neighbouring rows read neighbouring entries.
 */
template <class Value>
struct EllView
{
  int n;
  int lanes;              ///< T; 1: ELLPACK-R
  std::size_t stride;     ///< T times the padded number of rows
  const int *row_lengths; ///< n lengths
  const int *columns;     ///< `stride` columns for every T entries of the longest row
  const Value *values;
  bool cache_resident; ///< whether the matrix stays in the L2 cache between products

  FEMGPU_HD
  int row(const int position) const
  {
    return position;
  }

  FEMGPU_HD
  double row_product(const int i, const int lane, const int n_lanes, const double *v) const
  {
    const std::size_t begin = static_cast<std::size_t>(i) * n_lanes + lane;
    const int length = (row_lengths[i] - lane + n_lanes - 1) / n_lanes; // entries of this lane
    const std::uint64_t policy = cache_policy(cache_resident);
    return strided_product<4>(Strided{ReadOnce<Value>{values + begin, policy}, stride},
                              Strided{ReadOnce<int>{columns + begin, policy}, stride}, 0, 1, length,
                              v);
  }
};

/**
 * The columns of a SellView, stored relative to the row. The k-th entries of all rows of a slice
 * form a slice column, which has one base: the minimum of column - row. On structured grids most
 * slices need only these bases. Other slices also have a code of 16 bits for each entry, the offset
 * of its column from row + base. If 16 bits do not suffice, the slice has columns of 32 bits. The
 * order of a row's entries, and thus of its sum, does not change.
 */
struct ShortColumns
{
  static constexpr int no_codes = -1, long_columns = -2;
  static constexpr int codes_end = 1 << 16;

  const int *first_codes;     ///< start of each slice's codes, counted in slice columns, or
                              ///< no_codes or long_columns; nullptr: all slices have long columns
  const int *bases;           ///< one per slice column
  const std::uint16_t *codes; ///< one per entry of slices that have codes

  FEMGPU_HD
  int first_code(const int slice) const
  {
    return first_codes == nullptr ? long_columns : first_codes[slice];
  }

  /// The columns of a row whose slice has no codes.
  struct Bases
  {
    int row;
    const int *of_slice;

    FEMGPU_HD
    int operator[](const unsigned int k) const
    {
      return row + of_slice[k];
    }
  };

  /// The columns of a row whose slice has codes.
  struct Codes
  {
    Bases bases;
    Strided<ReadOnce<std::uint16_t>, unsigned int> codes;

    FEMGPU_HD
    int operator[](const unsigned int k) const
    {
      return bases[k] + codes[k];
    }
  };
};

/**
 * SELL-C-σ (Kreutzer et al. 2014): slices of C = 2^log_slice rows, each as wide as its longest row.
 * Within windows of σ rows, rows are sorted by length. Entry k of the row at position p is at
 * slice_starts[p / C] + k C + p % C. Padding has the value 0, and the column of the row itself or,
 * with short columns, any column.
 */
template <class Value>
struct SellView
{
  static constexpr int lanes = 1; ///< default; any number of lanes may share a row

  int n;
  int log_slice;
  RowStarts slice_starts; ///< first entry of each slice, then the end of the last slice
  const int *order;       ///< the row at each of n positions; nullptr: the rows are not sorted
  const int *columns;     ///< columns of the slices with long columns
  const Value *values;
  ShortColumns short_columns;
  bool cache_resident; ///< whether the matrix stays in the L2 cache between products

  FEMGPU_HD
  int row(const int position) const
  {
    return order == nullptr ? position : order[position];
  }

  template <class Vectors>
  FEMGPU_HD
  auto row_product(const int position, const int lane, const int n_lanes, const Vectors &v) const
  {
    const int slice = position >> log_slice;
    const auto size = 1U << log_slice, in_slice = static_cast<unsigned int>(position) & (size - 1);
    const std::size_t start = slice_starts[slice], first = start + in_slice;
    const std::uint64_t policy = cache_policy(cache_resident);
    const auto product_with = [&](const auto &column_of) {
      return strided_product<7>(Strided{ReadOnce<Value>{values + first, policy}, size}, column_of,
                                lane, n_lanes, slice_starts.length(slice) >> log_slice, v);
    };
    const int first_code = short_columns.first_code(slice);
    if (first_code == ShortColumns::long_columns)
      return product_with(Strided{ReadOnce<int>{columns + first, policy}, size});
    const ShortColumns::Bases bases{row(position), short_columns.bases + (start >> log_slice)};
    if (first_code == ShortColumns::no_codes)
      return product_with(bases);
    const std::uint16_t *const codes =
        short_columns.codes + (static_cast<std::size_t>(first_code) << log_slice) + in_slice;
    return product_with(ShortColumns::Codes{bases, {{codes, policy}, size}});
  }
};

/// Block CSR: row starts and columns of b x b blocks; the values of a block are stored in row-major
/// order.
template <class Value>
struct BsrView
{
  int n;
  int lanes;
  int block_size;        ///< b; divides n
  const int *row_starts; ///< n/b + 1 starts, counted in blocks
  const int *columns;    ///< block column of each block
  const Value *values;   ///< b² values per block

  FEMGPU_HD
  int row(const int position) const
  {
    return position;
  }

  template <class Vectors>
  FEMGPU_HD
  auto row_product(const int i, const int lane, const int n_lanes, const Vectors &v) const
  {
    const int block_row = i / block_size, row_in_block = i - block_row * block_size;
    const int end = row_starts[block_row + 1];
    std::decay_t<decltype(v[0])> sum{};
    for (int k = row_starts[block_row] + lane; k < end; k += n_lanes) {
      const Value *const a =
          values + (static_cast<std::size_t>(k) * block_size + row_in_block) * block_size;
      const Vectors w = v + static_cast<std::size_t>(columns[k]) * block_size;
      for (int c = 0; c < block_size; ++c)
        sum += static_cast<double>(a[c]) * w[c];
    }
    return sum;
  }
};

/**
 * SELL-C-σ with blocks: slices of C = 2^log_slice block rows, each as wide as its longest block
 * row. Block k of block row p has number slice_starts[p / C] + k C + p % C. Position i denotes row
 * i % b of block row i / b; the values of its entries l = 0, 1, ... are C b apart.
 */
template <class Value>
struct BlockSellView
{
  static constexpr int lanes = 1; ///< default; any number of lanes may share a row

  int n;
  int block_size; ///< b; divides n
  int log_slice;
  const int *slice_starts; ///< one per slice, then the end of the last slice; counted in blocks
  const int *order;    ///< block row at each of n/b positions; nullptr: block rows are not sorted
  const int *columns;  ///< block column of each block
  const Value *values; ///< b² values per block
  bool cache_resident; ///< whether the matrix stays in the L2 cache between products

  FEMGPU_HD
  int row(const int position) const
  {
    if (order == nullptr)
      return position;
    const int block_row = position / block_size;
    return order[block_row] * block_size + (position - block_row * block_size);
  }

  FEMGPU_HD
  int first_block(const int block_row) const
  {
    return slice_starts[block_row >> log_slice] + (block_row & ((1 << log_slice) - 1));
  }

  /// Returns the index in `values` of entry @p l of the row at @p position.
  FEMGPU_HD
  std::size_t value_index(const int position, const int l) const
  {
    const int slice = (position / block_size) >> log_slice;
    const int rows = block_size << log_slice;
    const std::size_t begin =
        static_cast<std::size_t>(slice_starts[slice]) * block_size * block_size;
    return begin + static_cast<std::size_t>(l) * rows + (position - slice * rows);
  }

  template <class Vectors>
  FEMGPU_HD
  auto row_product(const int position, const int lane, const int n_lanes, const Vectors &v) const
  {
    switch (block_size) {
    case 2:
      return product_with<2, 4>(position, lane, n_lanes, v);
    case 3:
      return product_with<3, 3>(position, lane, n_lanes, v);
    default:
      return product_with<1, 8>(position, lane, n_lanes, v);
    }
  }

private:
  /// Multiplies a row in parts of @p b columns; @p b divides the block size. On a GPU the loads of
  /// @p batch parts are in flight at once.
  template <int b, int batch, class Vectors>
  FEMGPU_HD
  auto product_with(const int position, const int lane, const int n_lanes, const Vectors &v) const
  {
    using Element = std::decay_t<decltype(v[0])>;
    constexpr int n_in_flight = is_for_gpu ? batch : 1;
    const int slice = (position / block_size) >> log_slice;
    const int rows = block_size << log_slice;
    const int width = ((slice_starts[slice + 1] - slice_starts[slice]) >> log_slice);
    const std::uint64_t policy = cache_policy(cache_resident);
    const int *block_columns = columns + first_block(position / block_size);
    const Value *a = values + value_index(position, lane * b);
    const int n_segments = width * (block_size / b);
    Element sum{};
    for (int first = lane; first < n_segments; first += n_in_flight * n_lanes) {
      Value a_j[n_in_flight][b];
      int column[n_in_flight];
      FEMGPU_UNROLL
      for (int e = 0; e < n_in_flight; ++e) {
        const int segment = first + e * n_lanes, block = segment / (block_size / b);
        const bool is_valid = segment < n_segments;
        column[e] = is_valid
                        ? load_once(block_columns + (block << log_slice), policy) * block_size +
                              (segment - block * (block_size / b)) * b
                        : -1;
        FEMGPU_UNROLL
        for (int c = 0; c < b; ++c)
          a_j[e][c] =
              is_valid
                  ? load_once(a + static_cast<std::ptrdiff_t>(rows) * (e * n_lanes * b + c), policy)
                  : Value(0);
      }
      Element v_j[n_in_flight][b];
      FEMGPU_UNROLL
      for (int e = 0; e < n_in_flight; ++e) {
        FEMGPU_UNROLL
        for (int c = 0; c < b; ++c)
          v_j[e][c] = column[e] >= 0 ? v[column[e] + c] : Element{};
      }
      FEMGPU_UNROLL
      for (int e = 0; e < n_in_flight; ++e) {
        FEMGPU_UNROLL
        for (int c = 0; c < b; ++c)
          sum += static_cast<double>(a_j[e][c]) * v_j[e][c];
      }
      a += static_cast<std::ptrdiff_t>(rows) * n_in_flight * n_lanes * b;
    }
    return sum;
  }
};

/// A view of a product that LinearOperator::prepare() has already computed.
struct StoredView
{
  static constexpr int lanes = 1;

  int n;
  const double *Av;

  FEMGPU_HD
  int row(const int position) const
  {
    return position;
  }

  FEMGPU_HD
  double row_product(const int i, const int /* lane */, const int /* n_lanes */,
                     const double * /* v */) const
  {
    return Av[i];
  }
};
} // namespace femgpu::linalg

#endif
