#ifndef femgpu_tests_linalg_tall_matrices_h
#define femgpu_tests_linalg_tall_matrices_h

#include "linalg/memory/buffer.h"
#include "linalg/steps/columns.h"

#include <vector>

namespace femgpu::linalg::test
{
/// A dense matrix on the host, stored by columns.
struct TallMatrix
{
  TallMatrix(const int n, const int p)
      : n(n), p(p), values(static_cast<std::size_t>(n) * static_cast<std::size_t>(p))
  {}

  double &operator()(const int i, const int c)
  {
    return values[static_cast<std::size_t>(c) * static_cast<std::size_t>(n) +
                  static_cast<std::size_t>(i)];
  }
  double operator()(const int i, const int c) const
  {
    return const_cast<TallMatrix &>(*this)(i, c);
  }

  int n, p;
  std::vector<double> values;
};

/// Returns an n x p matrix with random entries in [-1, 1) that are the same on every machine.
TallMatrix random_block(int n, int p, unsigned int seed);

/// Returns an n x p matrix whose columns are orthonormal up to a few ε. Requires n >= p.
TallMatrix orthonormal_block(int n, int p, unsigned int seed);

/// Returns the n x p matrix U Σ Wᵀ with orthonormal U and W, and with singular values Σ in
/// geometric progression from 1 to 1/kappa.
TallMatrix block_of_condition(int n, int p, double kappa, unsigned int seed);

/// Return XᵀY and X Y, with products summed in long double.
TallMatrix transposed_product(const TallMatrix &X, const TallMatrix &Y);
TallMatrix product(const TallMatrix &X, const TallMatrix &Y);

double frobenius_norm(const TallMatrix &X);
/// Returns ‖X − Y‖_F.
double distance(const TallMatrix &X, const TallMatrix &Y);
/// Returns ‖I − QᵀQ‖_F.
double orthogonality_error_of(const TallMatrix &Q);

/// A block in the memory of an executor; the stride of its columns exceeds their length.
struct ExecutorBlock
{
  ExecutorBlock(const ExecutorPtr &executor, const TallMatrix &V);

  Columns view(int first, int count);
  Columns view()
  {
    return view(0, p);
  }
  TallMatrix to_host() const;

  int n, p;
  std::size_t stride;
  Buffer<double> memory;
};
} // namespace femgpu::linalg::test

#endif
