#ifndef femgpu_linalg_preconditioners_own_block_h
#define femgpu_linalg_preconditioners_own_block_h

#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/preconditioner.h"

#include <memory>
#include <string>
#include <utility>

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

/// Of a part. @throws SolverError beyond most_indices entries; DeviceError without memory
template <class Backend>
std::unique_ptr<OwnBlock> make_own_block(const CsrMatrix &A);

/// A preconditioner that knows nothing of ghosts, and sees a part's own block of A.
class OwnBlockPreconditioner final : public Preconditioner
{
public:
  explicit OwnBlockPreconditioner(std::unique_ptr<Preconditioner> M) : M(std::move(M))
  {}

  void setup(const Matrix &A) override;
  void update(const Matrix &A) override;
  Action action() const override
  {
    return M->action();
  }
  /// Says in the remarks that it is of a block.
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
  std::unique_ptr<OwnBlock> block; ///< nullptr: A has one part
  std::unique_ptr<Preconditioner> M;
};
} // namespace femgpu::linalg

#endif
