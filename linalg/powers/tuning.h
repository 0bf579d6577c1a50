#ifndef femgpu_linalg_powers_tuning_h
#define femgpu_linalg_powers_tuning_h

#include "linalg/powers/forms.h"

namespace femgpu::linalg
{
/**
 * Returns the fastest of plain, unless blocked is requested, and of a few cache blocks that should
 * move the fewest bytes, estimated from the neighbourhoods of a sample of blocks. If plain takes
 * part, only blocks that should be clearly faster do. Each candidate is made and timed with the
 * actual matrix.
 * @throws SolverError if blocked is requested and no blocks fit
 */
std::unique_ptr<MatrixPowers> make_tuned_powers(const Matrix &A, const DiagonalView &m,
                                                const MatrixPowersOptions &options,
                                                const PowersForms &forms, int log_slice);

/// Returns the deepest sweep to consider. If A is distributed, a rank should not have more ghosts
/// than own rows.
int deepest_sweep(const Matrix &A, const MatrixPowersOptions &options);

/// Returns the first rows of blocks of @p block rows, or of the parts of A's ordering, and the end.
std::vector<int> block_starts(const Matrix &A, int block);

/// Returns the bytes of the executor's memory for a streamed matrix.
std::size_t memory_for_stream(const Executor &executor, const MatrixPowersOptions &options);

/// Returns the depth of the passes that stream the fewest bytes for @p n_steps steps.
/// @param rows own rows. @param deepest depth for which A has the rows
/// @throws DeviceError as plan_passes_within() if no depth is possible
int depth_of_fewest_bytes(const ScaledMatrix &A, const RowSpace &rows, int n_steps, int deepest,
                          std::size_t max_bytes, int log_slice);

/// Makes streamed powers from a copy of A that has the rows for the requested depth, or for the
/// deepest one that may be best. @throws DeviceError as make_matrix_powers()
std::unique_ptr<MatrixPowers> make_streamed_powers(const Matrix &A, const DiagonalView &m,
                                                   const MatrixPowersOptions &options,
                                                   const PowersForms &forms);

/// Returns why these blocks, on this or another rank, are unusable; empty if all are usable.
std::string obstacle_on_any_rank(const RowSpace &rows, const CacheBlocks &blocks);

/// Makes products with a matrix that stays in the executor's memory, and exchanges its ghosts once
/// per @p depth steps. @param copy with the rows for these
std::unique_ptr<MatrixPowers> make_exchanging_powers(const HostCopy &copy, int depth);
} // namespace femgpu::linalg

#endif
