#ifndef femgpu_linalg_sparse_transpose_h
#define femgpu_linalg_sparse_transpose_h

#include "linalg/sparse/derived_matrix.h"

namespace femgpu::linalg
{
/**
 * The pattern of Aᵀ, columns ascending, also where those of A do not: the entries of A sorted by
 * their columns, which keeps the order of rows. Cost: a radix sort of pairs of ints, and four more
 * passes. @throws DeviceError without memory, of which it takes 20 bytes an entry besides the
 * result
 */
template <class Backend>
DerivedPattern transposed_pattern(const PatternRef &A);

/// Aᵀ, which can take over new values of A.
template <class Backend>
DerivedMatrix<Backend> transposed(const CsrMatrix &A);

/// Aᵀ once.
template <class Backend>
std::unique_ptr<CsrMatrix> transpose(const CsrMatrix &A);
} // namespace femgpu::linalg

#endif
