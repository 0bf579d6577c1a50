#include "tests/linalg/tall_matrices.h"
#include "tests/linalg/test_matrices.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg::test
{
TallMatrix random_block(const int n, const int p, const unsigned int seed)
{
  TallMatrix V(n, p);
  V.values = random_vector(n * p, seed);
  return V;
}

TallMatrix orthonormal_block(const int n, const int p, const unsigned int seed)
{
  TallMatrix Q = random_block(n, p, seed);
  for (int pass = 0; pass < 2; ++pass)
    for (int c = 0; c < p; ++c) {
      for (int b = 0; b < c; ++b) {
        long double dot = 0.;
        for (int i = 0; i < n; ++i)
          dot += static_cast<long double>(Q(i, b)) * Q(i, c);
        for (int i = 0; i < n; ++i)
          Q(i, c) -= static_cast<double>(dot) * Q(i, b);
      }
      long double squares = 0.;
      for (int i = 0; i < n; ++i)
        squares += static_cast<long double>(Q(i, c)) * Q(i, c);
      const double norm = std::sqrt(static_cast<double>(squares));
      for (int i = 0; i < n; ++i)
        Q(i, c) /= norm;
    }
  return Q;
}

TallMatrix block_of_condition(const int n, const int p, const double kappa, const unsigned int seed)
{
  TallMatrix U = orthonormal_block(n, p, seed);
  const TallMatrix W = orthonormal_block(p, p, seed + 1);
  for (int c = 0; c < p; ++c)
    for (int i = 0; i < n; ++i)
      U(i, c) *= std::pow(kappa, -static_cast<double>(c) / std::max(1, p - 1));
  TallMatrix W_t(p, p);
  for (int c = 0; c < p; ++c)
    for (int i = 0; i < p; ++i)
      W_t(i, c) = W(c, i);
  return product(U, W_t);
}

TallMatrix transposed_product(const TallMatrix &X, const TallMatrix &Y)
{
  TallMatrix C(X.p, Y.p);
  for (int y = 0; y < Y.p; ++y)
    for (int x = 0; x < X.p; ++x) {
      long double sum = 0.;
      for (int i = 0; i < X.n; ++i)
        sum += static_cast<long double>(X(i, x)) * Y(i, y);
      C(x, y) = static_cast<double>(sum);
    }
  return C;
}

TallMatrix product(const TallMatrix &X, const TallMatrix &Y)
{
  TallMatrix Z(X.n, Y.p);
  for (int y = 0; y < Y.p; ++y)
    for (int i = 0; i < X.n; ++i) {
      long double sum = 0.;
      for (int x = 0; x < X.p; ++x)
        sum += static_cast<long double>(X(i, x)) * Y(x, y);
      Z(i, y) = static_cast<double>(sum);
    }
  return Z;
}

double frobenius_norm(const TallMatrix &X)
{
  return norm(X.values);
}

double distance(const TallMatrix &X, const TallMatrix &Y)
{
  std::vector<double> difference = X.values;
  for (std::size_t k = 0; k < difference.size(); ++k)
    difference[k] -= Y.values[k];
  return norm(difference);
}

double orthogonality_error_of(const TallMatrix &Q)
{
  TallMatrix I(Q.p, Q.p);
  for (int c = 0; c < Q.p; ++c)
    I(c, c) = 1.;
  return distance(I, transposed_product(Q, Q));
}

ExecutorBlock::ExecutorBlock(const ExecutorPtr &executor, const TallMatrix &V)
    : n(V.n), p(V.p), stride(static_cast<std::size_t>(V.n + 4) / 2 * 2),
      memory(executor, stride * static_cast<std::size_t>(std::max(V.p, 1)))
{
  std::vector<double> padded(memory.size(), std::nan(""));
  for (int c = 0; c < p; ++c)
    for (int i = 0; i < n; ++i)
      padded[stride * static_cast<std::size_t>(c) + static_cast<std::size_t>(i)] = V(i, c);
  memory.copy_from_host(padded.data());
}

Columns ExecutorBlock::view(const int first, const int count)
{
  return {memory.data() + stride * static_cast<std::size_t>(first), stride, count};
}

TallMatrix ExecutorBlock::to_host() const
{
  const std::vector<double> padded = memory.to_host();
  TallMatrix V(n, p);
  for (int c = 0; c < p; ++c)
    for (int i = 0; i < n; ++i)
      V(i, c) = padded[stride * static_cast<std::size_t>(c) + static_cast<std::size_t>(i)];
  return V;
}
} // namespace femgpu::linalg::test
