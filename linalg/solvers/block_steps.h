#ifndef femgpu_linalg_solvers_block_steps_h
#define femgpu_linalg_solvers_block_steps_h

#include "linalg/steps/diagonal_view.h"
#include "linalg/steps/row_pieces.h"

#include <cstddef>

/**
 * @file
 * Bodies of steps (steps/steps.h) for blocks of vectors, which are stored row by row as in a
 * MultiVector, and for small matrices, which are stored row by row with an even stride.
 */
namespace femgpu::linalg
{
/// A view of a MultiVector.
struct Block
{
  double *data;
  int stride;

  FEMGPU_HD
  double *row(const int i) const
  {
    return data + static_cast<std::size_t>(i) * stride;
  }
};

/// The columns of a block that each column c of an update reads and writes; -1: none.
struct ColumnMap
{
  static constexpr int max_columns = 32;

  short base[max_columns], result[max_columns];
};

/// Computes R = B − V.
struct SubtractBlock
{
  const double *B;
  Block V, R; ///< with the stride of B
  RowPieces pieces;

  FEMGPU_HD
  void operator()(const int item) const
  {
    const RowPieces::Piece piece = pieces[item];
    const double *const b = B + static_cast<std::size_t>(piece.row) * V.stride;
    const double *const v = V.row(piece.row);
    for (int c = piece.begin; c < piece.end; ++c)
      R.row(piece.row)[c] = b[c] - v[c];
  }
};

/// Computes result_c = d base_c + sign Σ_j V_j C_jc for the columns c of C, with the diagonal
/// matrix d. The result may be the base, but not V.
struct UpdateBlock
{
  Block base;
  DiagonalView d;
  Block V;
  int n_V; ///< even; a row of C that has no column of V is zero
  const double *C;
  double sign;
  Block result;
  ColumnMap map;
  RowPieces pieces; ///< its stride is that of C

  FEMGPU_HD
  void operator()(const int item) const
  {
    const RowPieces::Piece piece = pieces[item];
    for_column_parts(piece, [&](const auto width, const int c) {
      update<decltype(width)::value>(piece.row, c);
    });
  }

private:
  template <int width>
  FEMGPU_HD
  void update(const int i, const int first) const
  {
    const double *const v = V.row(i), *const b = base.row(i);
    const RowParts<width> C_rows{C + first, pieces.stride};
    RowPart<width> sums{};
    for (int j = 0; j < n_V; ++j)
      sums += v[j] * C_rows[j];
    const double d_i = d(i);
    FEMGPU_UNROLL
    for (int k = 0; k < width; ++k) {
      const int from = map.base[first + k], to = map.result[first + k];
      if (to >= 0)
        result.row(i)[to] = (from < 0 ? 0. : d_i * b[from]) + sign * sums.values[k];
    }
  }
};

/// Computes partial sums of C = Xᵀ d Y with the diagonal matrix d, for one chunk of rows per team.
/// A thread computes a tile of 2 x 2 entries, on the host of up to 2 x 8, for some of the rows.
struct MultiplyBlocks
{
  static constexpr int team_size = 256, scratch = 0;
  /// Doubles that a team shares.
  static constexpr int scratch_size = 4 * team_size;

  int n, rows_per_chunk, n_chunks;
  Block X, Y; ///< with equal strides
  DiagonalView d;
  bool only_diagonal;   ///< whether only the diagonal of C is needed
  double *partial_sums; ///< one entry of C after the other, each with n_chunks sums

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int chunk) const
  {
    if constexpr (!is_for_gpu)
      if (!only_diagonal && Y.stride % 8 == 0)
        return multiply<8>(team, chunk);
    multiply<2>(team, chunk);
  }

private:
  template <int width, class Team>
  FEMGPU_HD
  void multiply(const Team &team, const int chunk) const
  {
    constexpr int tile_size = 2 * width;
    const int tiles_y = only_diagonal ? 1 : Y.stride / width, n_tiles = X.stride / 2 * tiles_y;
    const int n_streams = team.size() > n_tiles ? team.size() / n_tiles : 1;
    const int begin = chunk * rows_per_chunk;
    const int end = n - begin < rows_per_chunk ? n : begin + rows_per_chunk;
    double *const shared = team.scratch();
    for (int item = team.rank(); item < n_tiles * n_streams; item += team.size()) {
      const int tile = item % n_tiles;
      add_rows<width>(2 * (tile / tiles_y), first_y<width>(tile, tiles_y), begin + item / n_tiles,
                      end, n_streams, shared + static_cast<std::ptrdiff_t>(tile_size) * item);
    }
    team.sync();
    for (int k = team.rank(); k < tile_size * n_tiles; k += team.size()) {
      double sum = 0.;
      for (int stream = 0; stream < n_streams; ++stream)
        sum += shared[tile_size * stream * n_tiles + k];
      const int tile = k / tile_size, x = 2 * (tile / tiles_y) + k % tile_size / width,
                y = first_y<width>(tile, tiles_y) + k % width;
      partial_sums[static_cast<std::size_t>(x * Y.stride + y) * n_chunks + chunk] = sum;
    }
  }

  template <int width>
  FEMGPU_HD
  int first_y(const int tile, const int tiles_y) const
  {
    return only_diagonal ? 2 * tile : width * (tile % tiles_y);
  }

  /// Stores the sums of a tile over the rows begin, begin + step, ... < end.
  template <int width>
  FEMGPU_HD
  void add_rows(const int x, const int y, const int begin, const int end, const int step,
                double *sums) const
  {
    const RowParts<2> X_rows{X.data + x, X.stride};
    const RowParts<width> Y_rows{Y.data + y, Y.stride};
    RowPart<width> first{}, second{};
    for (int i = begin; i < end; i += step) {
      const RowPart<2> X_i = X_rows[i];
      const RowPart<width> dY_i = d(i) * Y_rows[i];
      first += X_i.values[0] * dY_i;
      second += X_i.values[1] * dY_i;
    }
    FEMGPU_UNROLL
    for (int c = 0; c < width; ++c) {
      sums[c] = first.values[c];
      sums[width + c] = second.values[c];
    }
  }
};

/// Adds the partial sums of one entry per team.
struct AddChunks
{
  static constexpr int team_size = 32, scratch = 0;
  int n_chunks;
  const double *partial_sums;
  double *C;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int entry) const
  {
    const double *const sums = partial_sums + static_cast<std::size_t>(entry) * n_chunks;
    double sum = 0.;
    for (int chunk = team.rank(); chunk < n_chunks; chunk += team.size())
      sum += sums[chunk];
    sum = team.sum(sum);
    if (team.rank() == 0)
      C[entry] = sum;
  }
};

/**
 * Solves D Y = sign F for a symmetric positive semidefinite matrix D with k rows, in one team, by
 * Gauss-Jordan elimination of D scaled to a unit diagonal, with diagonal pivots. Rows of D that
 * depend on the pivot rows up to `negligible` get zero rows of Y; so Y solves the equations of the
 * other rows. If D is not positive semidefinite, Y is zero.
 */
struct SolveSmallSystem
{
  static constexpr int team_size = 128, scratch = 0;
  /// Squared sine of the angle, in the inner product of D, below which a row depends on others.
  /// Smaller pivots would have less than 7 correct digits.
  static constexpr double negligible = 1e-8;

  int k, stride; ///< of all matrices
  const double *D, *F;
  double sign;
  double *Y;
  double *rank; ///< receives the number of pivots, or -1 if D is not positive semidefinite

  /// Returns the doubles that the team shares.
  static int scratch_size(const int k)
  {
    return 2 * k * k + 3 * k;
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int /* item */) const
  {
    const int width = 2 * k; // of the rows of [D F]
    double *const scale = team.scratch(), *const pivot_row = scale + k,
                  *const a = pivot_row + width;
    bool is_semidefinite = true; // the same for all threads
    for (int i = 0; i < k; ++i)
      is_semidefinite &= D[i * stride + i] > 0.;
    for (int i = team.rank(); i < k; i += team.size())
      scale[i] = is_semidefinite ? 1. / sqrt(D[i * stride + i]) : 0.;
    team.sync();
    for (int e = team.rank(); e < k * width; e += team.size()) {
      const int i = e / width, j = e % width;
      a[e] = scale[i] * (j < k ? 0.5 * (D[i * stride + j] + D[j * stride + i]) * scale[j]
                               : sign * F[i * stride + j - k]);
    }
    team.sync();
    unsigned int pivots = 0;
    int n_pivots = 0;
    for (; n_pivots < k; ++n_pivots) {
      const int q = largest_diagonal_entry(a, pivots);
      if (q < 0 || a[q * width + q] <= negligible)
        break;
      const double pivot = a[q * width + q];
      for (int j = team.rank(); j < width; j += team.size())
        pivot_row[j] = a[q * width + j] / pivot;
      pivots |= 1U << q;
      team.sync();
      for (int e = team.rank(); e < k * width; e += team.size()) {
        const int i = e / width, j = e % width;
        if (i == q)
          a[e] = pivot_row[j];
        else if (j != q) // other threads read column q
          a[e] -= a[i * width + q] * pivot_row[j];
      }
      team.sync();
    }
    for (int i = 0; i < k; ++i)
      is_semidefinite &= (pivots >> i & 1U) != 0 || a[i * width + i] >= -negligible;
    for (int e = team.rank(); e < stride * stride; e += team.size()) {
      const int i = e / stride, j = e % stride;
      const bool is_pivot = is_semidefinite && i < k && (pivots >> i & 1U) != 0;
      Y[e] = is_pivot && j < k ? scale[i] * a[i * width + k + j] : 0.;
    }
    if (team.rank() == 0)
      *rank = is_semidefinite ? n_pivots : -1.;
  }

private:
  /// Returns the row of the largest diagonal entry that is not a pivot yet; -1 if there is none.
  FEMGPU_HD
  int largest_diagonal_entry(const double *a, const unsigned int pivots) const
  {
    const std::ptrdiff_t step = 2 * static_cast<std::ptrdiff_t>(k) + 1;
    int q = -1;
    for (int i = 0; i < k; ++i)
      if ((pivots >> i & 1U) == 0 && (q < 0 || a[i * step] > a[q * step]))
        q = i;
    return q;
  }
};
} // namespace femgpu::linalg

#endif
