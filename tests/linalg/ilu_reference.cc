#include "tests/linalg/ilu_reference.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace femgpu::linalg::test
{
namespace
{
constexpr int never = std::numeric_limits<int>::max() / 4;

using Vector = std::vector<double>;

/// Returns M v = (D + L) D⁻¹ (D + U) v.
Vector times_factors(const Dense &lu, const Vector &v)
{
  const std::size_t n = v.size();
  Vector w(n), result(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j)
      w[i] += lu[i][j] * v[j];
    w[i] /= lu[i][i];
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      result[i] += lu[i][j] * w[j];
  return result;
}

Vector solve_factors(const Dense &lu, Vector v)
{
  const std::size_t n = v.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      v[i] -= lu[i][j] * v[j];
    v[i] /= lu[i][i];
  }
  for (std::size_t end = n; end > 0; --end)
    for (std::size_t i = end - 1, j = end; j < n; ++j)
      v[i] -= lu[i][j] * v[j] / lu[i][i];
  return v;
}

Vector times(const Dense &A, const Vector &v)
{
  Vector result(v.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    result[i] = std::inner_product(A[i].begin(), A[i].end(), v.begin(), 0.);
  return result;
}

Dense submatrix(const Dense &A, const std::vector<int> &rows)
{
  Dense result(rows.size(), Vector(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows.size(); ++j)
      result[i][j] = A[rows[i]][rows[j]];
  return result;
}

/// Applies the inner steps of block j to y: each solves B y' = C y + (Q s + r)_j with B = LU and
/// C = B − A_jj.
Vector inner_steps(const Dense &A_jj, const Dense &lu, Vector y, const Vector &Qs_r,
                   const int n_steps)
{
  for (int k = 0; k < n_steps; ++k) {
    const Vector By = times_factors(lu, y), Ay = times(A_jj, y);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = By[i] - Ay[i] + Qs_r[i];
    y = solve_factors(lu, y);
  }
  return y;
}
} // namespace

Dense dense_matrix(const HostMatrix &A)
{
  Dense dense(static_cast<std::size_t>(A.n), Vector(static_cast<std::size_t>(A.n), 0.));
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      dense[i][A.columns[k]] = A.values[k];
  return dense;
}

DenseLevels fill_levels(const Dense &A, const int level)
{
  const std::size_t n = A.size();
  DenseLevels levels(n, std::vector<int>(n, never));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      if (A[i][j] != 0. || i == j)
        levels[i][j] = 0;
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = k + 1; levels[i][k] <= level && j < n; ++j)
        levels[i][j] = std::min(levels[i][j], levels[i][k] + levels[k][j] + 1);
    for (std::size_t j = 0; j < n; ++j)
      if (levels[i][j] > level)
        levels[i][j] = never;
  }
  return levels;
}

Dense incomplete_lu(const Dense &A, const int level)
{
  const DenseLevels levels = fill_levels(A, level);
  Dense lu = A;
  for (std::size_t i = 0; i < A.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      for (std::size_t j = k + 1; j < A.size(); ++j)
        if (levels[i][k] <= level && levels[i][j] <= level)
          lu[i][j] -= lu[i][k] * lu[k][j] / lu[k][k];
  return lu;
}

std::vector<double> swept_solution(const Dense &lu, const std::vector<double> &r, const int sweeps)
{
  const std::size_t n = r.size();
  Vector w(n);
  for (std::size_t i = 0; i < n; ++i)
    w[i] = r[i] / lu[i][i];
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const Vector before = w;
    for (std::size_t i = 0; i < n; ++i) {
      w[i] = r[i];
      for (std::size_t j = 0; j < i; ++j)
        w[i] -= lu[i][j] * before[j];
      w[i] /= lu[i][i];
    }
  }
  Vector z = w;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const Vector before = z;
    for (std::size_t i = 0; i < n; ++i) {
      z[i] = w[i];
      for (std::size_t j = i + 1; j < n; ++j)
        z[i] -= lu[i][j] * before[j] / lu[i][i];
    }
  }
  return z;
}

std::vector<double> two_stage_solution(const HostMatrix &matrix, const Partition &blocks,
                                       const std::vector<double> &r, const TwoStage &counts)
{
  const Dense A = dense_matrix(matrix);
  Vector s(r.size(), 0.);
  for (int l = 0; l < counts.outer; ++l) {
    Vector s_new = s;
    for (int block = 0; block < blocks.n_blocks(); ++block) {
      std::vector<int> rows;
      for (int i = blocks.starts[block]; i < blocks.starts[block + 1]; ++i)
        rows.push_back(blocks.order.empty() ? i : blocks.order[i]);
      const Dense A_jj = submatrix(A, rows);
      Vector y, Qs_r; // Q s + r with Q s = P s − A s
      for (const int row : rows)
        y.push_back(s[row]);
      const Vector Ps = times(A_jj, y), As = times(A, s);
      for (std::size_t i = 0; i < rows.size(); ++i)
        Qs_r.push_back(Ps[i] - As[rows[i]] + r[rows[i]]);
      y = inner_steps(A_jj, incomplete_lu(A_jj, counts.level), y, Qs_r, counts.inner);
      for (std::size_t i = 0; i < rows.size(); ++i)
        s_new[rows[i]] = y[i];
    }
    s = s_new;
  }
  return s;
}

HostMatrix unsymmetric_pattern(const int n, const int per_row, const unsigned int seed)
{
  const HostMatrix A = random_dominant(n, per_row, seed);
  const std::vector<double> dice = random_vector(static_cast<int>(A.values.size()), seed);
  HostMatrix result;
  for (int i = 0; i < n; ++i) {
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (A.columns[k] == i || dice[k] > 0.)
        result.add(A.columns[k], A.values[k]);
    result.end_row();
  }
  return result;
}
} // namespace femgpu::linalg::test
