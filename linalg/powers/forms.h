#ifndef femgpu_linalg_powers_forms_h
#define femgpu_linalg_powers_forms_h

#include "linalg/memory/executor.h"
#include "linalg/powers/cache_blocks.h"
#include "linalg/powers/matrix_powers.h"
#include "linalg/powers/row_block_passes.h"

#include <memory>
#include <optional>

/**
 * @file
 * The forms of the matrix powers kernel, each compiled for both backends, and functions for the
 * tuner.
 */
namespace femgpu::linalg
{
template <class Backend>
std::unique_ptr<MatrixPowers> make_plain_powers(const Matrix &A, const Preconditioner::Action &M);

template <class Backend>
std::unique_ptr<MatrixPowers> make_blocked_powers(const RowSpacePtr &space,
                                                  const CacheBlocks &blocks);

template <class Backend>
std::unique_ptr<MatrixPowers> make_streamed_powers(const RowSpacePtr &space, const ScaledMatrix &A,
                                                   const RowBlockPasses &passes, int n_slots);

/// Returns how many doubles of scratch memory a team of the blocked form can have.
template <class Backend>
int max_block_scratch(const Executor &executor);

/// The functions of this file for one backend.
struct PowersForms
{
  std::unique_ptr<MatrixPowers> (*plain)(const Matrix &A, const Preconditioner::Action &M);
  std::unique_ptr<MatrixPowers> (*blocked)(const RowSpacePtr &space, const CacheBlocks &blocks);
  std::unique_ptr<MatrixPowers> (*streamed)(const RowSpacePtr &space, const ScaledMatrix &A,
                                            const RowBlockPasses &passes, int n_slots);
  std::shared_ptr<const HostCopy> (*copy)(const Matrix &A, const DiagonalView &m, int depth);
  int (*max_scratch)(const Executor &executor);
};

/// Returns the functions for @p backend.
/// @throws DeviceError if this build lacks the backend
PowersForms powers_forms(BackendKind backend);
} // namespace femgpu::linalg

#endif
