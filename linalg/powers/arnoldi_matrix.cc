#include "linalg/powers/arnoldi_matrix.h"

#include "linalg/base/lapack.h"

#include <cmath>

namespace femgpu::linalg
{
namespace
{
/// Returns the coefficients of v_0, ..., v_n in the basis. The first column is e_k.
DenseMatrix in_basis(const DenseMatrix &C, const DenseMatrix &R, const int n)
{
  const int k = C.rows - 1;
  DenseMatrix G(k + 1 + n, n + 1);
  G(k, 0) = 1.;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= k; ++i)
      G(i, j + 1) = C(i, j);
    for (int i = 0; i <= j; ++i)
      G(k + 1 + i, j + 1) = R(i, j);
  }
  return G;
}
} // namespace

ArnoldiMatrix::ArnoldiMatrix(const int max_columns, const double beta)
    : H(max_columns + 1, max_columns), R(H), rhs(static_cast<std::size_t>(max_columns) + 1, 0.)
{
  rhs[0] = beta;
}

void ArnoldiMatrix::append(const std::vector<double> &C, const std::vector<double> &R_block,
                           const std::vector<BasisStep> &steps, const int p, const int n_used)
{
  const int k = n_columns;
  const DenseMatrix G = in_basis({k + 1, C}, {p, R_block}, n_used);
  for (int j = 0; j < n_used; ++j) {
    // w = A M⁻¹ v_j in the basis: v_{j+1} / scale + shift v_j − square v_{j-1}
    const BasisStep &step = steps[static_cast<std::size_t>(j)];
    std::vector<double> w(rhs.size(), 0.);
    for (int i = 0; i < G.rows; ++i)
      w[static_cast<std::size_t>(i)] = G(i, j + 1) / step.scale + step.shift * G(i, j) -
                                       (j > 0 ? step.square * G(i, j - 1) : 0.);
    // v_j = Σ_l q_l G_lj, and A M⁻¹ q_l is known for all l but the last.
    for (int l = 0; l < k + j; ++l)
      for (int i = 0; i <= l + 1; ++i)
        w[static_cast<std::size_t>(i)] -= H(i, l) * G(l, j);
    for (int i = 0; i <= k + j + 1; ++i)
      H(i, k + j) = w[static_cast<std::size_t>(i)] / G(k + j, j);
    ++n_columns;
  }
}

bool ArnoldiMatrix::rotate_next()
{
  const int j = n_rotated;
  double size = 0.;
  for (int i = 0; i <= j + 1; ++i) {
    R(i, j) = H(i, j);
    size += H(i, j) * H(i, j);
  }
  for (int i = 0; i < j; ++i) {
    const auto k = static_cast<std::size_t>(i);
    double &above = R(i, j), &below = R(i + 1, j);
    const double rotated_above = cosines[k] * above + sines[k] * below;
    below = cosines[k] * below - sines[k] * above;
    above = rotated_above;
  }
  double &diagonal = R(j, j), &next = R(j + 1, j);
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
    y[k] /= R(j, j);
    for (int i = 0; i < j; ++i)
      y[static_cast<std::size_t>(i)] -= R(i, j) * y[k];
  }
  return y;
}

std::vector<std::complex<double>> ArnoldiMatrix::ritz_values() const
{
  return hessenberg_eigenvalues(H.entries, n_columns, H.rows);
}
} // namespace femgpu::linalg
