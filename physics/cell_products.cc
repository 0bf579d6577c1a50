#include "physics/cell_products.h"

// Functions are compiled for several kinds of CPU, and the loader selects a version. Targets name
// instruction sets: GCC selects a version for an architecture only on CPUs of that architecture.
#if defined(__x86_64__) && defined(__linux__)
#define FEMGPU_FOR_EACH_CPU __attribute__((target_clones("fma", "default")))
#else
#define FEMGPU_FOR_EACH_CPU
#endif
#define FEMGPU_WITHIN inline __attribute__((always_inline))

namespace femgpu
{
namespace
{
/// A vector of four numbers with the alignment of one.
using Double4 = double __attribute__((vector_size(32), aligned(8), may_alias));

/// Adds n_rows rows and 4 n_vectors columns of A B to R. The sums are kept in registers.
template <int n_rows, int n_vectors>
FEMGPU_WITHIN void add_tile(const std::ptrdiff_t n_columns, const std::ptrdiff_t n_terms,
                            const double *const A, const std::ptrdiff_t stride,
                            const double *const B, double *const R)
{
  Double4 sum[n_rows][n_vectors] = {};
  for (std::ptrdiff_t k = 0; k < n_terms; ++k)
    for (std::ptrdiff_t i = 0; i < n_rows; ++i)
      for (std::ptrdiff_t v = 0; v < n_vectors; ++v)
        sum[i][v] += A[i * stride + k] * reinterpret_cast<const Double4 *>(B + k * n_columns)[v];
  for (std::ptrdiff_t i = 0; i < n_rows; ++i)
    for (std::ptrdiff_t v = 0; v < n_vectors; ++v)
      reinterpret_cast<Double4 *>(R + i * n_columns)[v] += sum[i][v];
}

template <int n_rows>
FEMGPU_WITHIN void add_rows(const std::ptrdiff_t n_columns, const std::ptrdiff_t n_terms,
                            const double *const A, const std::ptrdiff_t stride,
                            const double *const B, double *const R)
{
  std::ptrdiff_t j = 0;
  for (; j + 8 <= n_columns; j += 8)
    add_tile<n_rows, 2>(n_columns, n_terms, A, stride, B + j, R + j);
  if (j < n_columns)
    add_tile<n_rows, 1>(n_columns, n_terms, A, stride, B + j, R + j);
}
} // namespace

FEMGPU_FOR_EACH_CPU
void add_product(const std::ptrdiff_t n_rows, const std::ptrdiff_t n_columns,
                 const std::ptrdiff_t n_terms, const double *const A, const std::ptrdiff_t stride,
                 const double *const B, double *const R)
{
  std::ptrdiff_t i = 0;
  for (; i + 4 <= n_rows; i += 4)
    add_rows<4>(n_columns, n_terms, A + i * stride, stride, B, R + i * n_columns);
  const double *const rest = A + i * stride;
  if (n_rows - i == 3)
    add_rows<3>(n_columns, n_terms, rest, stride, B, R + i * n_columns);
  else if (n_rows - i == 2)
    add_rows<2>(n_columns, n_terms, rest, stride, B, R + i * n_columns);
  else if (n_rows - i == 1)
    add_rows<1>(n_columns, n_terms, rest, stride, B, R + i * n_columns);
}

FEMGPU_FOR_EACH_CPU
void combine_rows(const std::ptrdiff_t n_rows, const std::ptrdiff_t n_columns,
                  const std::ptrdiff_t n_terms, const std::ptrdiff_t n_points,
                  const double *const c, const double *const B, double *const R)
{
  for (std::ptrdiff_t r = 0; r < n_rows; ++r)
    for (std::ptrdiff_t q = 0; q < n_points; ++q)
      for (std::ptrdiff_t j = 0; j < n_columns; j += 4) {
        Double4 sum = {};
        for (std::ptrdiff_t t = 0; t < n_terms; ++t)
          sum += c[(r * n_terms + t) * n_points + q] *
                 *reinterpret_cast<const Double4 *>(B + (t * n_points + q) * n_columns + j);
        *reinterpret_cast<Double4 *>(R + (r * n_points + q) * n_columns + j) = sum;
      }
}

FEMGPU_FOR_EACH_CPU
void transform(const std::ptrdiff_t n, const std::ptrdiff_t dim, const double *const M,
               const std::ptrdiff_t row, const std::ptrdiff_t term, const double *const x,
               const std::ptrdiff_t x_stride, double *const y, const std::ptrdiff_t y_stride)
{
  for (std::ptrdiff_t r = 0; r < dim; ++r) {
    const double *const of_row = M + r * row;
    double *const y_r = y + r * y_stride;
    if (dim == 2)
      for (std::ptrdiff_t q = 0; q < n; ++q)
        y_r[q] = of_row[q] * x[q] + of_row[term + q] * x[x_stride + q];
    else
      for (std::ptrdiff_t q = 0; q < n; ++q)
        y_r[q] = of_row[q] * x[q] + of_row[term + q] * x[x_stride + q] +
                 of_row[2 * term + q] * x[2 * x_stride + q];
  }
}

FEMGPU_FOR_EACH_CPU
void invert_jacobians(const std::ptrdiff_t n, const std::ptrdiff_t dim, const double *const J,
                      const std::ptrdiff_t stride, double *const inverses,
                      double *const determinants)
{
  const auto at = [&](const std::ptrdiff_t a, const std::ptrdiff_t b) {
    return J + a * stride + b * n;
  };
  if (dim == 2) {
    for (std::ptrdiff_t q = 0; q < n; ++q) {
      const double a = at(0, 0)[q], b = at(0, 1)[q], c = at(1, 0)[q], d = at(1, 1)[q];
      const double determinant = a * d - b * c;
      determinants[q] = determinant;
      inverses[q] = d / determinant;
      inverses[n + q] = -b / determinant;
      inverses[2 * n + q] = -c / determinant;
      inverses[3 * n + q] = a / determinant;
    }
    return;
  }
  for (std::ptrdiff_t q = 0; q < n; ++q) {
    double x[3][3];
    for (std::ptrdiff_t a = 0; a < 3; ++a)
      for (std::ptrdiff_t b = 0; b < 3; ++b)
        x[a][b] = at(a, b)[q];
    double adjugate[3][3];
    for (std::ptrdiff_t a = 0; a < 3; ++a)
      for (std::ptrdiff_t b = 0; b < 3; ++b)
        adjugate[b][a] = x[(a + 1) % 3][(b + 1) % 3] * x[(a + 2) % 3][(b + 2) % 3] -
                         x[(a + 1) % 3][(b + 2) % 3] * x[(a + 2) % 3][(b + 1) % 3];
    const double determinant =
        x[0][0] * adjugate[0][0] + x[0][1] * adjugate[1][0] + x[0][2] * adjugate[2][0];
    determinants[q] = determinant;
    for (std::ptrdiff_t b = 0; b < 3; ++b)
      for (std::ptrdiff_t a = 0; a < 3; ++a)
        inverses[(b * 3 + a) * n + q] = adjugate[b][a] / determinant;
  }
}
} // namespace femgpu
