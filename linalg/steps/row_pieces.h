#ifndef femgpu_linalg_steps_row_pieces_h
#define femgpu_linalg_steps_row_pieces_h

#include "linalg/base/host_device.h"
#include "linalg/base/indices.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace femgpu::linalg
{
/// The values of @p width neighbouring columns in one row of a MultiVector.
template <int width>
struct alignas(2 * sizeof(double)) RowPart
{
  double values[width];

  FEMGPU_HD
  RowPart &operator+=(const RowPart &other)
  {
    FEMGPU_UNROLL
    for (int c = 0; c < width; ++c)
      values[c] += other.values[c];
    return *this;
  }
};

template <int width>
FEMGPU_HD
RowPart<width> operator*(const double a, const RowPart<width> &v)
{
  RowPart<width> product;
  FEMGPU_UNROLL
  for (int c = 0; c < width; ++c)
    product.values[c] = a * v.values[c];
  return product;
}

/// A view of @p width neighbouring columns of a MultiVector, for row_product().
template <int width>
struct RowParts
{
  const double *data; ///< first of these columns
  int stride;         ///< leading dimension

  FEMGPU_HD
  RowPart<width> operator[](const int row) const
  {
    return *reinterpret_cast<const RowPart<width> *>(data + static_cast<std::size_t>(row) * stride);
  }

  FEMGPU_HD
  RowParts operator+(const std::size_t rows) const
  {
    return {data + rows * stride, stride};
  }
};

/// A division of the rows of a MultiVector into the items of a row step: on a GPU an item is a pair
/// of columns in a row, so that neighbouring threads access neighbouring values; on the host it is
/// a row.
struct RowPieces
{
  int first_row;
  int count;  ///< number of items
  int stride; ///< columns of a row; even

  struct Piece
  {
    int row;
    int begin, end; ///< columns
  };

  FEMGPU_HD
  Piece operator[](const int item) const
  {
    if constexpr (!is_for_gpu)
      return {first_row + item, 0, stride};
    const unsigned int pairs = static_cast<unsigned int>(stride) / 2;
    const unsigned int row = static_cast<unsigned int>(item) / pairs;
    const int begin = 2 * static_cast<int>(static_cast<unsigned int>(item) - row * pairs);
    return {first_row + static_cast<int>(row), begin, begin + 2};
  }
};

/// Calls f(width, c) for parts of a piece that begin with column c and have `width` columns, a
/// std::integral_constant: 2 on a GPU, 8 or 2 on the host, which has wider vector registers.
template <class Function>
FEMGPU_HD
void for_column_parts(const RowPieces::Piece &piece, const Function &f)
{
  int c = piece.begin;
  if constexpr (!is_for_gpu)
    for (; c + 8 <= piece.end; c += 8)
      f(std::integral_constant<int, 8>(), c);
  for (; c < piece.end; c += 2)
    f(std::integral_constant<int, 2>(), c);
}

/// Calls @p f with RowPieces that together contain all rows, and each of which has at most
/// max_indices items.
template <class Function>
void for_row_pieces(const int n, const int stride, const Function &f)
{
  const int rows_per_step = std::max(max_indices / std::max(stride / 2, 1), 1);
  for (int first = 0; first < n;) {
    const int n_rows = std::min(n - first, rows_per_step);
    f(RowPieces{first, is_for_gpu ? n_rows * (stride / 2) : n_rows, stride});
    first += n_rows;
  }
}
} // namespace femgpu::linalg

#endif
