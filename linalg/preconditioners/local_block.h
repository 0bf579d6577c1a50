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
 * The rows of a rank without the ghost columns: the matrix of a preconditioner that does not
 * communicate. Over all ranks this is block Jacobi, or additive Schwarz without overlap.
 */
class LocalBlock
{
public:
  virtual ~LocalBlock() = default;

  virtual const CsrMatrix &matrix() const = 0;

  /// Takes over the values of @p A, which has the pattern of the matrix that this was made from.
  virtual void update(const CsrMatrix &A) = 0;
};

/// Makes the own block of a rank. @throws SolverError beyond max_indices entries; DeviceError if
/// memory is insufficient
template <class Backend>
std::unique_ptr<LocalBlock> make_local_block(const CsrMatrix &A);

/// Applies a preconditioner that does not support ghosts to the own block of each rank.
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
  /// Adds to the remarks that the preconditioner is of a block.
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
  std::unique_ptr<LocalBlock> block; ///< nullptr: A is not distributed
  std::unique_ptr<Preconditioner> M;
};
} // namespace femgpu::linalg

#endif
