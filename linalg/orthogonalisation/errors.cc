#include "linalg/orthogonalisation/orthogonalisation.h"
#include "linalg/orthogonalisation/tall_skinny.h"

#include <cmath>

namespace femgpu::linalg
{
namespace
{
struct CopyColumns
{
  int n;
  Columns from, to;

  FEMGPU_HD
  void operator()(const int i) const
  {
    for (int c = 0; c < from.count; ++c)
      to[c][i] = from[c][i];
  }
};

template <class Backend>
double frobenius_norm(TallSkinny<Backend> &columns, const int n, const Columns &V,
                      Buffer<double> &product)
{
  double sum = 0.;
  for (int c = 0; c < V.count; ++c) {
    const Columns v{V[c], V.stride, 1};
    columns.gram(n, v, v, product.data());
    sum += product.to_host(1)[0];
  }
  return std::sqrt(sum);
}
} // namespace

template <>
double orthogonality_error_on<ThisBackend>(const ExecutorPtr &executor, const int n,
                                           const Columns &Q)
{
  check_alignment(Q);
  const auto p = static_cast<std::size_t>(Q.count);
  TallSkinny<ThisBackend> columns(executor);
  Buffer<double> products(executor, p * p);
  columns.gram(n, Q, Q, products.data());
  const std::vector<double> B = products.to_host();
  double sum = 0.;
  for (std::size_t k = 0; k < B.size(); ++k) {
    const double error = (k % p == k / p ? 1. : 0.) - B[k];
    sum += error * error;
  }
  return std::sqrt(sum);
}

template <>
double factorisation_error_on<ThisBackend>(const ExecutorPtr &executor, const int n,
                                           const Columns &V, const Columns &Q, const double *R)
{
  check_alignment(V);
  check_alignment(Q);
  const auto length = static_cast<std::size_t>(n) + static_cast<std::size_t>(n % 2);
  TallSkinny<ThisBackend> columns(executor);
  Buffer<double> memory(executor, length * static_cast<std::size_t>(V.count)), product(executor, 1);
  const Columns difference{memory.data(), length, V.count};
  columns.steps().run(rows(n, CopyColumns{n, V, difference}));
  columns.subtract(n, Q, R, difference);
  const double norm = frobenius_norm(columns, n, V, product);
  return frobenius_norm(columns, n, difference, product) / (norm > 0. ? norm : 1.);
}
} // namespace femgpu::linalg
