#ifndef femgpu_linalg_execution_steps_views_h
#define femgpu_linalg_execution_steps_views_h

#include "linalg/base/row_starts.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

/**
 * @file
 * How product steps see the formats (steps.h says what a view supplies). @p Value is the type in
 * which values are stored; products are added in double precision.
 */
namespace femgpu::linalg
{
/**
 * Columns of two bytes. Neighbouring rows come in groups of 32, the rows of a warp. The columns of
 * a group lie in few short ranges, whose first columns are the bases of the group; an entry has the
 * number of its range and its distance from the base, in one code of 16 bits. (Williams et al.
 * 2007, §4.4, have 16-bit distances within cache blocks; here rows stay whole, so that sums keep
 * their order.) A group whose columns lie in too many ranges has no bases: its entries have columns
 * of four bytes.
 */
struct ShortColumns
{
  static constexpr int log_group = 5;
  static constexpr int distance_bits = 12;
  static constexpr int range = 1 << distance_bits;             ///< columns
  static constexpr int most_bases = 1 << (16 - distance_bits); ///< of a group

  const int *first_bases; ///< of each group, or -1
  const int *bases;
  const std::uint16_t *codes; ///< one an entry

  /// What is read in place of an array of columns.
  struct OfGroup
  {
    const int *bases;
    const std::uint16_t *codes;

    FEMGPU_HD
    int operator[](const std::size_t k) const
    {
      const int code = codes[k];
      return bases[code >> distance_bits] + (code & (range - 1));
    }
  };

  /// Where the bases of a row's group begin; -1 if there are none.
  FEMGPU_HD
  int first_base(const int row) const
  {
    return first_bases[row >> log_group];
  }
  /// From entry @p begin on.
  FEMGPU_HD
  OfGroup of_group(const int first_base, const std::size_t begin) const
  {
    return {bases + first_base, codes + begin};
  }
};

/**
 * The sum of values[k] v[column_of[k]] over k = begin, begin + stride, ... < end, in this order. On
 * a GPU the loads of @p batch entries are under way at once; those beyond the end are left out.
 */
template <int batch, class Value, class Columns, class Index>
FEMGPU_HD
double strided_product(const Value *values, const Columns &column_of, const Index begin,
                       const Index end, const Index stride, const double *v)
{
  constexpr int together = is_for_gpu ? batch : 1;
  double sum = 0.;
  for (Index first = begin; first < end; first += together * stride) {
    Value a[together];
    int columns[together];
    FEMGPU_UNROLL
    for (int e = 0; e < together; ++e) {
      const Index k = first + e * stride;
      a[e] = k < end ? values[k] : Value(0);
      columns[e] = k < end ? column_of[k] : -1;
    }
    double v_j[together];
    FEMGPU_UNROLL
    for (int e = 0; e < together; ++e)
      v_j[e] = columns[e] >= 0 ? v[columns[e]] : 0.;
    FEMGPU_UNROLL
    for (int e = 0; e < together; ++e)
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
  RowStarts row_starts; ///< n+1
  const int *columns;   ///< nnz, ascending in each row
  const Value *values;  ///< nnz

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

  FEMGPU_HD
  double row_product(const int i, const int lane, const int n_lanes, const double *v) const
  {
    const EntryRange row = row_starts.range(i);
    return strided_product<4>(values + row.base, columns + row.base, row.first + lane, row.end,
                              static_cast<unsigned int>(n_lanes), v);
  }

  /// (|A||v|)_i
  FEMGPU_HD
  double row_magnitude(const int i, const double *v) const
  {
    const RowEntries<Value> row = entries(i);
    double sum = 0.;
    for (int k = 0; k < row.length; ++k)
      sum += fabs(row.values[k] * v[row.columns[k]]);
    return sum;
  }

  /// Which entry of its row A_ii is; -1 if there is no such entry.
  FEMGPU_HD
  int diagonal_entry(const int i) const
  {
    const RowEntries<Value> row = entries(i);
    for (int k = 0; k < row.length; ++k)
      if (row.columns[k] == i)
        return k;
    return -1;
  }

  /// A_ii; 0 if there is no such entry.
  FEMGPU_HD
  double diagonal(const int i) const
  {
    const int k = diagonal_entry(i);
    return k < 0 ? 0. : static_cast<double>(entries(i).values[k]);
  }
};

/**
 * ELLPACK-R and ELLR-T (Galiano et al. 2012, §4 and §5.1): entry k of row i is at
 * (k / T) stride + i T + k % T, so that the T lanes of neighbouring rows read neighbouring entries.
 */
template <class Value>
struct EllView
{
  int n;
  int lanes;              ///< T; 1: ELLPACK-R
  std::size_t stride;     ///< T times the rows, padded
  const int *row_lengths; ///< n
  const int *columns;     ///< stride times the longest row divided by T
  const Value *values;

  FEMGPU_HD
  int row(const int position) const
  {
    return position;
  }

  FEMGPU_HD
  double row_product(const int i, const int lane, const int n_lanes, const double *v) const
  {
    const std::size_t begin = static_cast<std::size_t>(i) * n_lanes + lane;
    const std::size_t length = (row_lengths[i] - lane + n_lanes - 1) / n_lanes; // of the lane
    return strided_product<4>(values, columns, begin, begin + length * stride, stride, v);
  }
};

/**
 * SELL-C-σ (Kreutzer et al. 2014): slices of C = 2^log_slice rows, each as wide as its longest row;
 * within windows of σ rows the rows are sorted by length. Entry k of position p is at
 * slice_starts[p / C] + k C + p % C. Padding is 0 times v of the row itself.
 */
template <class Value, class Starts = RowStarts>
struct SellView
{
  static constexpr int lanes = 1; ///< but any number may share a row

  int n;
  int log_slice;
  Starts slice_starts; ///< number of slices + 1
  const int *order;    ///< n: the row at each position; nullptr: each in its place
  const int *columns;
  const Value *values;

  FEMGPU_HD
  int row(const int position) const
  {
    return order == nullptr ? position : order[position];
  }

  FEMGPU_HD
  double row_product(const int position, const int lane, const int n_lanes, const double *v) const
  {
    const EntryRange slice = slice_starts.range(position >> log_slice);
    return product_with(slice, columns + slice.base, position, lane, n_lanes, v);
  }

protected:
  /// @param column_of gives the columns of entries from the base of the @p slice on
  template <class Columns>
  FEMGPU_HD
  double product_with(const EntryRange &slice, const Columns &column_of, const int position,
                      const int lane, const int n_lanes, const double *v) const
  {
    const auto size = 1U << log_slice;
    const auto first = slice.first + (static_cast<unsigned int>(position) & (size - 1));
    return strided_product<8>(values + slice.base, column_of, first + lane * size, slice.end,
                              n_lanes * size, v);
  }
};

/// The same with columns of two bytes, where they fit; padding has the last column in the row.
template <class Value, class Starts = RowStarts>
struct ShortSellView : SellView<Value, Starts>
{
  ShortColumns short_columns; ///< of groups of positions

  FEMGPU_HD
  double row_product(const int position, const int lane, const int n_lanes, const double *v) const
  {
    const int base = short_columns.first_base(position);
    const EntryRange slice = this->slice_starts.range(position >> this->log_slice);
    return base < 0
               ? this->product_with(slice, this->columns + slice.base, position, lane, n_lanes, v)
               : this->product_with(slice, short_columns.of_group(base, slice.base), position, lane,
                                    n_lanes, v);
  }
};

/// The same matrix, of fewer than 2^32 stored entries.
template <class Value>
SellView<Value, NarrowRowStarts> narrow(const SellView<Value> &A)
{
  return {A.n, A.log_slice, {A.slice_starts.low}, A.order, A.columns, A.values};
}
template <class Value>
ShortSellView<Value, NarrowRowStarts> narrow(const ShortSellView<Value> &A)
{
  return {narrow<Value>(static_cast<const SellView<Value> &>(A)), A.short_columns};
}

/// Block CSR: row starts and columns of b x b blocks, whose values are stored row by row.
template <class Value>
struct BsrView
{
  int n;
  int lanes;
  int block_size;        ///< b; divides n
  const int *row_starts; ///< n/b + 1, counts blocks
  const int *columns;    ///< of blocks
  const Value *values;   ///< b² a block

  FEMGPU_HD
  int row(const int position) const
  {
    return position;
  }

  FEMGPU_HD
  double row_product(const int i, const int lane, const int n_lanes, const double *v) const
  {
    const int block_row = i / block_size, row_in_block = i - block_row * block_size;
    const int end = row_starts[block_row + 1];
    double sum = 0.;
    for (int k = row_starts[block_row] + lane; k < end; k += n_lanes) {
      const Value *const a =
          values + (static_cast<std::size_t>(k) * block_size + row_in_block) * block_size;
      const double *const w = v + static_cast<std::size_t>(columns[k]) * block_size;
      for (int c = 0; c < block_size; ++c)
        sum += static_cast<double>(a[c]) * w[c];
    }
    return sum;
  }
};

/**
 * SELL-C-σ of blocks: slices of C = 2^log_slice block rows, each as wide as its longest. Block k of
 * block row p is number slice_starts[p / C] + k C + p % C; entry l of position i, which is row
 * i % b of its block row, is C b l values behind the first of the slice's position i.
 */
template <class Value>
struct BlockSellView
{
  static constexpr int lanes = 1; ///< but any number may share a row

  int n;
  int block_size; ///< b; divides n
  int log_slice;
  const int *slice_starts; ///< number of slices + 1, counts blocks
  const int *order;        ///< n/b: the block row at each place; nullptr: each in its place
  const int *columns;      ///< of blocks
  const Value *values;     ///< b² a block

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

  /// Where entry @p l of a position is.
  FEMGPU_HD
  std::size_t place(const int position, const int l) const
  {
    const int slice = (position / block_size) >> log_slice;
    const int rows = block_size << log_slice;
    const std::size_t begin =
        static_cast<std::size_t>(slice_starts[slice]) * block_size * block_size;
    return begin + static_cast<std::size_t>(l) * rows + (position - slice * rows);
  }

  FEMGPU_HD
  double row_product(const int position, const int lane, const int n_lanes, const double *v) const
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
  /// @p b divides the size of blocks; a GPU has the loads of @p batch parts of so many columns
  /// under way at once.
  template <int b, int batch>
  FEMGPU_HD
  double product_with(const int position, const int lane, const int n_lanes, const double *v) const
  {
    constexpr int together = is_for_gpu ? batch : 1;
    const int slice = (position / block_size) >> log_slice;
    const int rows = block_size << log_slice;
    const int width = ((slice_starts[slice + 1] - slice_starts[slice]) >> log_slice);
    const int *const block_columns = columns + first_block(position / block_size);
    const Value *const a = values + place(position, 0);
    const int parts = width * (block_size / b);
    double sum = 0.;
    for (int first = lane; first < parts; first += together * n_lanes) {
      Value a_j[together][b];
      int column[together];
      FEMGPU_UNROLL
      for (int e = 0; e < together; ++e) {
        const int part = first + e * n_lanes, block = part / (block_size / b);
        const bool is_there = part < parts;
        column[e] = is_there ? block_columns[block << log_slice] * block_size +
                                   (part - block * (block_size / b)) * b
                             : -1;
        FEMGPU_UNROLL
        for (int c = 0; c < b; ++c)
          a_j[e][c] = is_there ? a[static_cast<std::size_t>(part * b + c) * rows] : Value(0);
      }
      double v_j[together][b];
      FEMGPU_UNROLL
      for (int e = 0; e < together; ++e) {
        FEMGPU_UNROLL
        for (int c = 0; c < b; ++c)
          v_j[e][c] = column[e] >= 0 ? v[column[e] + c] : 0.;
      }
      FEMGPU_UNROLL
      for (int e = 0; e < together; ++e) {
        FEMGPU_UNROLL
        for (int c = 0; c < b; ++c)
          sum += static_cast<double>(a_j[e][c]) * v_j[e][c];
      }
    }
    return sum;
  }
};

template <class Value>
BlockSellView<Value> narrow(const BlockSellView<Value> &A)
{
  return A;
}

/// Are the rows of neighbouring positions read side by side?
template <class View>
struct IsSliced : std::false_type
{};
template <class Value>
struct IsSliced<SellView<Value>> : std::true_type
{};
template <class Value>
struct IsSliced<ShortSellView<Value>> : std::true_type
{};
template <class Value>
struct IsSliced<BlockSellView<Value>> : std::true_type
{};

/// A product that LinearOperator::prepare() has made.
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
