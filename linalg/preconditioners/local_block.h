#ifndef femgpu_linalg_preconditioners_local_block_h
#define femgpu_linalg_preconditioners_local_block_h

#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/preconditioner.h"

#include <memory>
#include <string>
#include <utility>

namespace femgpu::linalg
{
/**
 * The diagonal block of a rank: its rows of A without the ghost columns. A preconditioner of this
 * block does not communicate; over all ranks it is block Jacobi, that is, additive Schwarz without
 * overlap.
 */
class LocalBlock
{
public:
  virtual ~LocalBlock() = default;

  virtual const CsrMatrix &matrix() const = 0;

  /// Copies the values of @p A, which must have the same pattern as the A that the block was made
  /// from.
  virtual void update(const CsrMatrix &A) = 0;
};

/// Makes the diagonal block of this rank from its rows @p A.
/// @throws SolverError if the block has more than max_indices entries
/// @throws DeviceError if memory is insufficient
template <class Backend>
std::unique_ptr<LocalBlock> make_local_block(const CsrMatrix &A);

/// Applies a preconditioner that does not support ghosts to the diagonal block of each rank.
class LocalBlockPreconditioner final : public Preconditioner
{
public:
  explicit LocalBlockPreconditioner(std::unique_ptr<Preconditioner> M) : M(std::move(M))
  {}

  void setup(const Matrix &A) override;
  void update(const Matrix &A) override;
  Action action() const override
  {
    return M->action();
  }
  /// Returns M's report. If A is distributed, a remark says that M belongs to a diagonal block.
  SetupReport setup_report() const override;
  bool is_symmetric() const override
  {
    return M->is_symmetric();
  }
  std::string name() const override
  {
    return M->name();
  }
  std::size_t bytes() const override
  {
    return M->bytes();
  }

private:
  std::unique_ptr<LocalBlock> block; ///< nullptr if A is not distributed
  std::unique_ptr<Preconditioner> M;
};
} // namespace femgpu::linalg

#endif
