#include "linalg/powers/arnoldi_matrix.h"

#include "linalg/base/lapack.h"

#include <cmath>

namespace femgpu::linalg
{
namespace
{
/// A dense matrix by columns.
struct Dense
{
  int rows;
  std::vector<double> entries;

  Dense(const int rows, const int columns)
      : rows(rows), entries(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0.)
  {}
  double &operator()(const int i, const int j)
  {
    return entries[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) +
                   static_cast<std::size_t>(i)];
  }
};

/// Where the entry of row i and column j is, by columns of length ld.
std::size_t place(const int i, const int j, const int ld)
{
  return static_cast<std::size_t>(j) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(i);
}

/// The block, v_0 with v_1 to v_n, in the basis: its first column is e_k.
Dense in_basis(const std::vector<double> &C, const std::vector<double> &R, const int k, const int p,
               const int n)
{
  Dense G(k + 1 + n, n + 1);
  G(k, 0) = 1.;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= k; ++i)
      G(i, j + 1) = C[place(i, j, k + 1)];
    for (int i = 0; i <= j; ++i)
      G(k + 1 + i, j + 1) = R[place(i, j, p)];
  }
  return G;
}
} // namespace

ArnoldiMatrix::ArnoldiMatrix(const int most_columns, const double beta)
    : ld(static_cast<std::size_t>(most_columns) + 1),
      H(ld * static_cast<std::size_t>(most_columns), 0.), R(H.size(), 0.), rhs(ld, 0.)
{
  rhs[0] = beta;
}

void ArnoldiMatrix::append(const std::vector<double> &C, const std::vector<double> &R_block,
                           const std::vector<BasisStep> &steps, const int p, const int n_used)
{
  const int k = n_columns;
  Dense G = in_basis(C, R_block, k, p, n_used);
  for (int j = 0; j < n_used; ++j) {
    // w = A M⁻¹ v_j in the basis: v_{j+1} / scale + shift v_j − square v_{j-1}
    const BasisStep &step = steps[static_cast<std::size_t>(j)];
    std::vector<double> w(ld, 0.);
    for (int i = 0; i < G.rows; ++i)
      w[static_cast<std::size_t>(i)] = G(i, j + 1) / step.scale + step.shift * G(i, j) -
                                       (j > 0 ? step.square * G(i, j - 1) : 0.);
    // v_j = Σ_l q_l G_lj, and A M⁻¹ q_l is known for all l but the last.
    for (int l = 0; l < k + j; ++l)
      for (int i = 0; i <= l + 1; ++i)
        w[static_cast<std::size_t>(i)] -= h(i, l) * G(l, j);
    for (int i = 0; i <= k + j + 1; ++i)
      h(i, k + j) = w[static_cast<std::size_t>(i)] / G(k + j, j);
    ++n_columns;
  }
}

bool ArnoldiMatrix::rotate_next()
{
  const int j = n_rotated;
  double size = 0.;
  for (int i = 0; i <= j + 1; ++i) {
    R[index(i, j)] = h(i, j);
    size += h(i, j) * h(i, j);
  }
  for (int i = 0; i < j; ++i) {
    const auto k = static_cast<std::size_t>(i);
    double &above = R[index(i, j)], &below = R[index(i + 1, j)];
    const double turned = cosines[k] * above + sines[k] * below;
    below = cosines[k] * below - sines[k] * above;
    above = turned;
  }
  double &diagonal = R[index(j, j)], &next = R[index(j + 1, j)];
  const double norm = std::hypot(diagonal, next);
  if (!(norm > 1e-15 * std::sqrt(size)))
    return false;
  cosines.push_back(diagonal / norm);
  sines.push_back(next / norm);
  diagonal = norm;
  next = 0.;
  const auto k = static_cast<std::size_t>(j);
  rhs[k + 1] = -sines[k] * rhs[k];
  rhs[k] *= cosines[k];
  ++n_rotated;
  return true;
}

double ArnoldiMatrix::residual() const
{
  return std::fabs(rhs[static_cast<std::size_t>(n_rotated)]);
}

std::vector<double> ArnoldiMatrix::solve() const
{
  std::vector<double> y(rhs.begin(), rhs.begin() + n_rotated);
  for (int j = n_rotated - 1; j >= 0; --j) {
    const auto k = static_cast<std::size_t>(j);
    y[k] /= R[index(j, j)];
    for (int i = 0; i < j; ++i)
      y[static_cast<std::size_t>(i)] -= R[index(i, j)] * y[k];
  }
  return y;
}

std::vector<std::complex<double>> ArnoldiMatrix::ritz_values() const
{
  return hessenberg_eigenvalues(H, n_columns, static_cast<int>(ld));
}
} // namespace femgpu::linalg
