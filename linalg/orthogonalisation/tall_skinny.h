#ifndef femgpu_linalg_orthogonalisation_tall_skinny_h
#define femgpu_linalg_orthogonalisation_tall_skinny_h

#include "linalg/base/error.h"
#include "linalg/execution/this_backend.h"
#include "linalg/memory/buffer.h"
#include "linalg/steps/gram.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

/**
 * @file
 * Products of matrices with few long columns. Each product processes the rows in chunks that depend
 * on the number of rows alone, so that results are bitwise reproducible and independent of the
 * number of threads. If rows are distributed, a product is summed over all ranks.
 */
namespace femgpu::linalg
{
/// Calls f(std::integral_constant<int, W>()), where W is the first of @p widths that is at least
/// @p count.
template <int... widths, class Function>
void dispatch_width(const int count, const Function &f)
{
  bool is_done = false;
  const auto call = [&](const auto width) {
    is_done = true;
    f(width);
  };
  ((!is_done && count <= widths ? call(std::integral_constant<int, widths>()) : void()), ...);
}

/// A division of n rows into chunks of equal length; the last one may be shorter.
struct RowChunks
{
  int n, rows; ///< number of all rows, and number of rows per chunk

  int count() const
  {
    return n / rows + (n % rows != 0 ? 1 : 0);
  }
  FEMGPU_HD
  int begin(const int chunk) const
  {
    return chunk * rows;
  }
  FEMGPU_HD
  int end(const int chunk) const
  {
    return n - chunk * rows < rows ? n : (chunk + 1) * rows;
  }
};

/// Checks that columns begin at multiples of two doubles, as gram() (steps/gram.h) requires.
/// @throws ParameterError if they do not
inline void check_alignment(const Columns &V)
{
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(V.data) % (2 * sizeof(double)) == 0;
  if (!is_aligned || (V.count > 1 && V.stride % 2 != 0))
    throw ParameterError("Columns with a stride of " + std::to_string(V.stride) +
                         " numbers cannot be multiplied. Align the first column to 16 bytes, and "
                         "use an even stride.");
}

/// Stores the inner products that gram() (steps/gram.h) computes in C[x + y n_X]. Unless `total` is
/// nullptr, also stores them in `total` in the first pass, and adds them to it in later passes.
struct StoreGramProducts
{
  int n_X;
  double *C;
  double *total = nullptr;
  std::size_t entry_stride = 1; ///< distance between entries of `total`
  bool is_first = true;

  FEMGPU_HD
  void entry(const int x, const int y, const double c_xy) const
  {
    const int k = x + y * n_X;
    C[k] = c_xy;
    if (total != nullptr) {
      double &entry = total[static_cast<std::size_t>(k) * entry_stride];
      entry = is_first ? c_xy : entry + c_xy;
    }
  }
};

/**
 * Computes V −= X C, then V := V R⁻¹ by forward substitution in each row, which is as accurate as a
 * solve can be; either part is optional. A thread keeps two rows of V in registers, so that each
 * entry of C or R from shared memory serves both rows. X and V are read once, V is written once. If
 * a diagonal entry of R is zero, the corresponding column of V becomes zero.
 */
template <int width>
struct TransformRows
{
  static constexpr int team_size = 128, scratch = 0, rows_of_team = 1024;
  static constexpr int n_rows = 2;       ///< rows that a thread processes together
  static constexpr int n_prefetched = 4; ///< values of X in a row that are loaded ahead
  RowChunks chunks;
  Columns X;
  const double *C; ///< C[x + y ldc]
  int ldc;
  Columns V;
  const double *R;    ///< R[x + y V.count]; nullptr: only computes V −= X C
  const int *enabled; ///< if it points to 0, V does not change; nullptr: V always changes

  /// Returns the number of doubles of scratch memory, for C, padded with zeros to the full width,
  /// and for R, stored by rows.
  static int scratch_size(const int n_X, const bool has_R)
  {
    return (padded(n_X) + (has_R ? width : 0)) * width;
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int chunk) const
  {
    if (enabled != nullptr && *enabled == 0)
      return;
    double *const coefficients = team.scratch();
    double *const triangle = coefficients + static_cast<std::size_t>(padded(X.count)) * width;
    gather(team, coefficients, triangle);
    const int end = chunks.end(chunk);
    for (int i = chunks.begin(chunk) + team.rank(); i < end; i += n_rows * team.size()) {
      const int next = i + team.size();
      const int rows[n_rows] = {i, next < end ? next : i}; // the last row may be computed twice
      double v[n_rows][width];
      load(rows, v);
      subtract(rows, coefficients, v);
      if (R != nullptr)
        solve(triangle, v);
      store(rows, v);
    }
  }

private:
  FEMGPU_HD
  static int padded(const int n_X)
  {
    return (n_X + n_prefetched - 1) / n_prefetched * n_prefetched;
  }

  template <class Team>
  FEMGPU_HD
  void gather(const Team &team, double *coefficients, double *triangle) const
  {
    for (int k = team.rank(); k < padded(X.count) * width; k += team.size()) {
      const int x = k / width, c = k % width;
      coefficients[k] = x < X.count && c < V.count ? C[x + c * ldc] : 0.;
    }
    for (int k = team.rank(); R != nullptr && k < width * width; k += team.size()) {
      const int r = k / width, c = k % width;
      const double R_rc = r <= c && c < V.count ? R[r + c * V.count] : 0.;
      triangle[k] = r == c && R_rc != 0. ? 1. / R_rc : R_rc;
    }
    team.sync();
  }

  FEMGPU_HD
  void load(const int (&rows)[n_rows], double (&v)[n_rows][width]) const
  {
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      FEMGPU_UNROLL
      for (int c = 0; c < width; ++c)
        v[r][c] = c < V.count ? V[c][rows[r]] : 0.;
    }
  }

  FEMGPU_HD
  void store(const int (&rows)[n_rows], const double (&v)[n_rows][width]) const
  {
    FEMGPU_UNROLL
    for (int r = 0; r < n_rows; ++r) {
      FEMGPU_UNROLL
      for (int c = 0; c < width; ++c)
        if (c < V.count)
          V[c][rows[r]] = v[r][c];
    }
  }

  FEMGPU_HD
  void subtract(const int (&rows)[n_rows], const double *coefficients,
                double (&v)[n_rows][width]) const
  {
    for (int x = 0; x < X.count; x += n_prefetched) {
      double values[n_prefetched][n_rows];
      FEMGPU_UNROLL
      for (int k = 0; k < n_prefetched; ++k) {
        FEMGPU_UNROLL
        for (int r = 0; r < n_rows; ++r)
          values[k][r] = x + k < X.count ? X[x + k][rows[r]] : 0.;
      }
      FEMGPU_UNROLL
      for (int k = 0; k < n_prefetched; ++k) {
        FEMGPU_UNROLL
        for (int c = 0; c < width; ++c) {
          const double coefficient = coefficients[(x + k) * width + c];
          FEMGPU_UNROLL
          for (int r = 0; r < n_rows; ++r)
            v[r][c] -= values[k][r] * coefficient;
        }
      }
    }
  }

  FEMGPU_HD
  static void solve(const double *triangle, double (&v)[n_rows][width])
  {
    FEMGPU_UNROLL
    for (int k = 0; k < width; ++k) {
      const double reciprocal = triangle[k * width + k];
      FEMGPU_UNROLL
      for (int r = 0; r < n_rows; ++r)
        v[r][k] *= reciprocal;
      FEMGPU_UNROLL
      for (int c = k + 1; c < width; ++c) {
        const double coefficient = triangle[k * width + c];
        FEMGPU_UNROLL
        for (int r = 0; r < n_rows; ++r)
          v[r][c] -= v[r][k] * coefficient;
      }
    }
  }
};

/// Computes products of matrices with few columns, and owns the memory for their computation. X and
/// V may have any number of columns.
template <class Backend>
class TallSkinny
{
public:
  static constexpr int max_width = 32;    ///< maximum number of columns in a thread's registers
  static constexpr int max_factors = 256; ///< maximum number of columns of X in one pass

  TallSkinny(const ExecutorPtr &executor, const Communicator *const communicator)
      : executor(executor), communicator(communicator), runner(*executor)
  {}

  /// Computes C = XᵀY, stored as C[x + y count(X)]. X and Y may be the same.
  void gram(const int n, const Columns &X, const Columns &Y, double *C)
  {
    gram(n, X, Y, StoreGramProducts{X.count, C});
  }

  /// Stores C = QᵀV in @p products, and computes V −= Q C. Adds C to @p total or, if @p is_first,
  /// stores it there; the entries of total are @p entry_stride numbers apart.
  void project_out(const int n, const Columns &Q, const Columns &V, double *products, double *total,
                   const std::size_t entry_stride, const bool is_first)
  {
    gram(n, Q, V, StoreGramProducts{Q.count, products, total, entry_stride, is_first});
    subtract(n, Q, products, V);
  }

  /// Computes V −= X C with C[x + y count(X)].
  void subtract(const int n, const Columns &X, const double *C, const Columns &V)
  {
    for (int x = 0; x < X.count; x += max_factors) {
      const Columns some{X[x], X.stride, std::min(X.count - x, max_factors)};
      for (int y = 0; y < V.count; y += max_width)
        transform(n, some, C + x + static_cast<std::size_t>(y) * X.count, X.count,
                  {V[y], V.stride, std::min(V.count - y, max_width)}, nullptr);
    }
  }

  /// Computes V := V R⁻¹ with R[x + y count(V)] for at most max_width columns.
  /// @param enabled V does not change if earlier steps have set *enabled to 0; nullptr: V always
  /// changes
  void solve(const int n, const Columns &V, const double *R, const int *enabled = nullptr)
  {
    transform(n, {}, nullptr, 0, V, R, enabled);
  }

  Runner<Backend> &steps()
  {
    return runner;
  }

private:
  void gram(const int n, const Columns &X, const Columns &Y,
            const StoreGramProducts &store_products)
  {
    const int n_entries = X.count * Y.count;
    if (n_entries > max_entries) {
      memory = GramMemory(executor, n_entries, communicator);
      max_entries = n_entries;
    }
    runner.run(femgpu::linalg::gram(n, X, Y, store_products, memory));
  }

  void transform(const int n, const Columns &X, const double *C, const int ldc, const Columns &V,
                 const double *R, const int *enabled = nullptr)
  {
    dispatch_width<4, 8, 12, 16, 24, max_width>(V.count, [&](const auto width) {
      using Body = TransformRows<decltype(width)::value>;
      const Body body{{n, Body::rows_of_team}, X, C, ldc, V, R, enabled};
      runner.run(teams(body.chunks.count(), body, Body::scratch_size(X.count, R != nullptr)));
    });
  }

  ExecutorPtr executor;
  const Communicator *communicator; ///< nullptr: rows are not distributed
  Runner<Backend> runner;
  GramMemory memory;
  int max_entries = 0;
};
} // namespace femgpu::linalg

#endif
