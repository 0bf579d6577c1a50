#ifndef femgpu_linalg_matrices_transpose_h
#define femgpu_linalg_matrices_transpose_h

#include "linalg/matrices/csr_matrix.h"

#include <memory>

namespace femgpu::linalg
{
/**
 * Aᵀ on the executor of @p A, columns ascending; on a GPU by cuSPARSE.
 * @throws DeviceError without memory
 */
template <class Backend>
std::unique_ptr<CsrMatrix> transpose(const CsrMatrix &A);
} // namespace femgpu::linalg

#endif
