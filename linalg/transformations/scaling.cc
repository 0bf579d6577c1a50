#include "linalg/transformations/scaling.h"

#include "linalg/base/error.h"
#include "linalg/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace femgpu::linalg
{
namespace
{
/// Column sums consist of this number of partial sums over rows, whatever the number of threads.
constexpr int n_chunks = 8;

/// Checks that every norm is positive and finite.
/// @param what "Row" or "Column"
/// @throws SolverError naming the first row or column whose norm is zero or not finite
void check_norms(const RowSpace &rows, const std::vector<double> &norms, const std::string &what)
{
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const std::string name =
        what + " " + std::to_string(rows.first() + static_cast<long long>(i)) + " of the matrix ";
    if (norms[i] == 0.)
      throw SolverError(name +
                        "has only zeros, or entries whose squares underflow: the matrix is "
                        "singular and cannot be scaled. Fix the matrix, or use scaling none.");
    if (!std::isfinite(norms[i]))
      throw SolverError(name + "has the 2-norm " + std::to_string(norms[i]) +
                        " and cannot be scaled: an entry is not finite, or its square overflows. "
                        "Fix the matrix, or use scaling none.");
  }
}

/// Returns the Euclidean norms of the rows. Throws for rows that are zero or not finite.
std::vector<double> row_norms(const HostCsr &A, const RowSpace &rows)
{
  std::vector<double> norms(static_cast<std::size_t>(A.n));
  parallel_for(A.n, [&](const int i) {
    double sum = 0.;
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      sum += A.values[k] * A.values[k];
    norms[i] = std::sqrt(sum);
  });
  check_norms(rows, norms, "Row");
  return norms;
}

/// Returns the Euclidean norms of the columns of R A with R = diag(@p left), or R = I if @p left is
/// empty. Throws for columns that are zero.
std::vector<double> column_norms(const HostCsr &A, const RowSpace &rows,
                                 const std::vector<double> &left)
{
  const std::size_t n = rows.n_with_ghosts();
  std::vector<double> sums(n_chunks * n);
  parallel_for(n_chunks, [&](const int chunk) {
    double *const chunk_sums = sums.data() + chunk * n;
    const auto first = static_cast<int>(std::int64_t(A.n) * chunk / n_chunks);
    const auto last = static_cast<int>(std::int64_t(A.n) * (chunk + 1) / n_chunks);
    for (int i = first; i < last; ++i)
      for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
        const double value = left.empty() ? A.values[k] : left[i] * A.values[k];
        chunk_sums[A.columns[k]] += value * value;
      }
  });
  std::vector<double> norms(n);
  parallel_for(n, [&](const std::size_t j) {
    double sum = 0.;
    for (int chunk = 0; chunk < n_chunks; ++chunk)
      sum += sums[chunk * n + j];
    norms[j] = sum;
  });
  rows.compress(norms.data());
  norms.resize(static_cast<std::size_t>(A.n));
  for (double &norm : norms)
    norm = std::sqrt(norm);
  check_norms(rows, norms, "Column");
  return norms;
}

std::vector<double> with_ghosts(const RowSpace &rows, const std::vector<double> &v)
{
  return rows.with_ghosts(v.data()).to_host();
}

/// Sets scaled[i] = operation(v[i], factors[i]) for 0 <= i < n.
template <class Operation>
void apply(const std::size_t n, const std::vector<double> &factors, const double *const v,
           double *const scaled, const Operation &operation)
{
  parallel_for(n, [&](const std::size_t i) { scaled[i] = operation(v[i], factors[i]); });
}
} // namespace

Scaling symmetric_scaling(const HostCsr &A, const RowSpace &rows)
{
  row_norms(A, rows); // only for its check: the error names the row of a non-finite entry
  Scaling scaling;
  scaling.left = column_norms(A, rows, {});
  for (double &d : scaling.left)
    d = 1. / std::sqrt(d);
  scaling.right = with_ghosts(rows, scaling.left);
  return scaling;
}

Scaling balancing(const HostCsr &A, const RowSpace &rows)
{
  Scaling scaling;
  scaling.left = row_norms(A, rows);
  for (double &r : scaling.left)
    r = 1. / r;
  scaling.right = column_norms(A, rows, scaling.left);
  for (double &c : scaling.right)
    c = 1. / c;
  scaling.right = with_ghosts(rows, scaling.right);
  return scaling;
}

void scale_values(const HostCsr &A, const Scaling &scaling, double *const scaled)
{
  if (scaling.is_none()) {
    if (scaled != A.values)
      std::copy(A.values, A.values + A.n_nonzeros, scaled);
    return;
  }
  const std::vector<double> &left = scaling.left, &right = scaling.right;
  parallel_for(A.n, [&](const int i) {
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      scaled[k] = A.values[k] * (left[i] * right[A.columns[k]]); // this order keeps symmetry exact
  });
}

void scale_rhs(const Scaling &scaling, const double *const b, double *const scaled)
{
  apply(scaling.left.size(), scaling.left, b, scaled,
        [](const double b_i, const double r_i) { return r_i * b_i; });
}

void unscale_rhs(const Scaling &scaling, const double *const scaled, double *const b)
{
  apply(scaling.left.size(), scaling.left, scaled, b,
        [](const double b_i, const double r_i) { return b_i / r_i; });
}

void scale_guess(const Scaling &scaling, const double *const x, double *const scaled)
{
  apply(scaling.left.size(), scaling.right, x, scaled,
        [](const double x_i, const double c_i) { return x_i / c_i; });
}

void unscale_solution(const Scaling &scaling, const double *const scaled, double *const x)
{
  apply(scaling.left.size(), scaling.right, scaled, x,
        [](const double x_i, const double c_i) { return c_i * x_i; });
}
} // namespace femgpu::linalg
