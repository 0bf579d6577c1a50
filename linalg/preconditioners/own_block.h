#ifndef femgpu_linalg_preconditioners_own_block_h
#define femgpu_linalg_preconditioners_own_block_h

#include "linalg/operators/csr_matrix.h"

#include <memory>

namespace femgpu::linalg
{
/**
 * The rows of a part without the columns that are ghosts: the matrix of a preconditioner that knows
 * nothing of other parts. All parts' together are block Jacobi, additive Schwarz without overlap.
 */
class OwnBlock
{
public:
  virtual ~OwnBlock() = default;

  virtual const CsrMatrix &matrix() const = 0;

  /// Takes over the values of @p A, whose pattern is the one that this was made of.
  virtual void update(const CsrMatrix &A) = 0;
};

template <class Backend>
std::unique_ptr<OwnBlock> make_own_block_on(const CsrMatrix &A);

/// Of a part. @throws SolverError beyond most_indices entries; DeviceError without memory
std::unique_ptr<OwnBlock> make_own_block(const CsrMatrix &A);
} // namespace femgpu::linalg

#endif
