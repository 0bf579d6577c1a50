#include "tests/linalg/test_matrices.h"

#include "solve/generators/stencils.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>

namespace femgpu::linalg::test
{
namespace
{
// The distributions of <random> differ between libraries; its engines do not.
class Random
{
public:
  explicit Random(const unsigned int seed) : engine(seed)
  {}
  /// Returns a number in [0, 1).
  double unit()
  {
    return static_cast<double>(engine() >> 11) * 0x1p-53;
  }
  /// Returns a number 0 <= k < n.
  int below(const int n)
  {
    return static_cast<int>(engine() % static_cast<std::uint64_t>(n));
  }

private:
  std::mt19937_64 engine;
};
} // namespace

HostMatrix dense(const std::vector<std::vector<double>> &rows)
{
  HostMatrix A;
  for (const auto &row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j)
      if (row[j] != 0.)
        A.add(static_cast<int>(j), row[j]);
    A.end_row();
  }
  return A;
}

HostMatrix diagonal(const std::vector<double> &entries)
{
  HostMatrix A;
  for (const double entry : entries) {
    A.add(A.n, entry);
    A.end_row();
  }
  return A;
}

HostMatrix laplacian_1d(const int n)
{
  return stencil_matrix({n, 1, 1}, cross_stencil({1.}));
}

HostMatrix laplacian_2d(const int nx, const int ny)
{
  return stencil_matrix({nx, ny, 1}, cross_stencil({1., 1.}));
}

HostMatrix laplacian_3d(const int nx, const int ny, const int nz)
{
  return stencil_matrix({nx, ny, nz}, cross_stencil({1., 1., 1.}));
}

HostMatrix box_27(const int nx, const int ny, const int nz)
{
  return stencil_matrix({nx, ny, nz}, box_stencil(3));
}

HostMatrix convection_diffusion(const int nx, const int ny, const double wx, const double wy)
{
  return stencil_matrix({nx, ny, 1}, upwind_stencil({wx, wy}));
}

HostMatrix random_dominant(const int n, const int per_row, const unsigned int seed)
{
  HostMatrix A = random_spd(n, per_row, seed);
  for (int i = 0; i < n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (A.columns[k] > i)
        A.values[k] *= -0.7;
  return A;
}

HostMatrix neumann_1d(const int n)
{
  HostMatrix A = laplacian_1d(n);
  A.values.front() = A.values.back() = 1.;
  return A;
}

HostMatrix random_spd(const int n, const int per_row, const unsigned int seed)
{
  Random random(seed);
  std::vector<std::map<int, double>> rows(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < (per_row + 1) / 2; ++k) {
      const int j = random.below(n);
      if (j != i)
        rows[static_cast<std::size_t>(i)][j] = rows[static_cast<std::size_t>(j)][i] =
            2. * random.unit() - 1.;
    }
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    auto &row = rows[static_cast<std::size_t>(i)];
    double sum = 0.1 + random.unit();
    for (const auto &entry : row)
      sum += std::abs(entry.second);
    row[i] = sum;
    for (const auto &[column, value] : row)
      A.add(column, value);
    A.end_row();
  }
  return A;
}

HostMatrix arrow(const int n)
{
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    if (i > 0)
      A.add(0, -1.);
    A.add(i, i == 0 ? n : 2.);
    for (int j = 1; i == 0 && j < n; ++j)
      A.add(j, -1.);
    A.end_row();
  }
  return A;
}

HostMatrix far_diagonal(const int n, const int last)
{
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    const int far = i % (last + 1) * 10000;
    if (far < i)
      A.add(far, -1.);
    A.add(i, 4.);
    if (far > i)
      A.add(far, -1.);
    A.end_row();
  }
  return A;
}

HostMatrix with_empty_rows(const int n)
{
  HostMatrix A;
  for (int i = 0; i < n; ++i) {
    for (int j = i; i % 3 != 1 && j < std::min(n, i + 1 + i % 4); ++j)
      A.add(j, 1. + (i + 2 * j) % 5);
    A.end_row();
  }
  return A;
}

HostMatrix with_integer_values(HostMatrix pattern, const unsigned int seed)
{
  Random random(seed);
  for (double &value : pattern.values)
    value = random.below(17) - 8;
  return pattern;
}

std::vector<double> random_vector(const int n, const unsigned int seed)
{
  Random random(seed);
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double &v_i : v)
    v_i = 2. * random.unit() - 1.;
  return v;
}

std::vector<double> integer_vector(const int n, const unsigned int seed)
{
  Random random(seed);
  std::vector<double> v(static_cast<std::size_t>(n));
  for (double &v_i : v)
    v_i = random.below(201) - 100;
  return v;
}

std::vector<double> multiply(const HostMatrix &A, const std::vector<double> &v)
{
  std::vector<double> Av(static_cast<std::size_t>(A.n));
  for (std::size_t i = 0; i < Av.size(); ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      Av[i] += A.values[entry] * v[static_cast<std::size_t>(A.columns[entry])];
    }
  return Av;
}

double norm(const std::vector<double> &v)
{
  double sum = 0.;
  for (const double v_i : v)
    sum += v_i * v_i;
  return std::sqrt(sum);
}

double residual_norm(const HostMatrix &A, const std::vector<double> &b,
                     const std::vector<double> &x)
{
  std::vector<double> r = multiply(A, x);
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] = b[i] - r[i];
  return norm(r);
}

double relative_difference(const std::vector<double> &a, const std::vector<double> &b)
{
  double difference = 0., largest = 0.;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference = std::max(difference, std::abs(a.at(i) - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return largest > 0. ? difference / largest : difference;
}
} // namespace femgpu::linalg::test
