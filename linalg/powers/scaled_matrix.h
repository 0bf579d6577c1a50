#ifndef femgpu_linalg_powers_scaled_matrix_h
#define femgpu_linalg_powers_scaled_matrix_h

#include "linalg/base/host_matrix.h"
#include "linalg/operators/matrix.h"
#include "linalg/steps/diagonal_view.h"

#include <memory>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// The matrix A M⁻¹ in host memory, from which blocks are filled: own rows, followed by the rows of
/// ghosts if A is distributed. The entries of a row are in global order.
struct ScaledMatrix
{
  explicit ScaledMatrix(const HostCsr &A) : A(A), n_own(A.n)
  {}

  HostCsr A;
  int n_own;
  std::vector<double> m; ///< diagonal of M⁻¹, A.n elements; empty: all are `uniform`
  double uniform = 1.;   ///< used if m is empty

  double value(const std::size_t k) const
  {
    return A.values[k] * (m.empty() ? uniform : m[A.columns[k]]);
  }
};

/// The matrix of an executor in host memory: a copy, or the matrix itself if it already is in host
/// memory.
struct HostCopy
{
  HostMatrix matrix; ///< the copy, if there is one
  ScaledMatrix scaled;
  RowSpacePtr space; ///< row space of the vectors that `scaled` multiplies, with ghosts

  HostCopy(HostMatrix rows, RowSpacePtr space)
      : matrix(std::move(rows)), scaled(matrix.csr()), space(std::move(space))
  {}
  HostCopy(const HostCsr &host_view, RowSpacePtr space) : scaled(host_view), space(std::move(space))
  {}
  HostCopy(const HostCopy &) = delete; // scaled refers to matrix
  HostCopy &operator=(const HostCopy &) = delete;
};

/// Returns A M⁻¹ in host memory, with the rows of ghosts that @p depth steps need. Collective over
/// all ranks. @p A must outlive the result.
template <class Backend>
std::shared_ptr<const HostCopy> copy_to_host(const Matrix &A, const DiagonalView &m, int depth);
} // namespace femgpu::linalg

#endif
