#ifndef femgpu_linalg_powers_tuning_h
#define femgpu_linalg_powers_tuning_h

#include "linalg/powers/forms.h"

namespace femgpu::linalg
{
/**
 * The fastest of plain, unless blocked is asked for, and of those few cache blocks that should move
 * the fewest bytes by the neighbourhoods of a sample of blocks: beside plain only such as should be
 * clearly faster than it. Each is made and run with the matrix as it is.
 * @throws SolverError if blocked is asked for and no blocks fit
 */
std::unique_ptr<MatrixPowers> make_tuned_powers(const Matrix &A, const DiagonalView &m,
                                                const MatrixPowersOptions &options,
                                                const PowersForms &forms, int log_slice);

/// The deepest sweep that a choice may come to. Of parts it is one whose ghosts should be no more
/// than the own rows.
int deepest_sweep(const Matrix &A, const MatrixPowersOptions &options);

/// The first rows of blocks with so many rows, or the parts of A's order, and the end.
std::vector<int> block_starts(const Matrix &A, int block);

/// Bytes of the executor's memory for a streamed matrix.
std::size_t memory_for_stream(const Executor &executor, const MatrixPowersOptions &options);

/// Of visits that stream the fewest bytes for @p n_steps steps.
/// @param rows own ones. @param deepest of those that A has the rows for
/// @throws DeviceError as plan_visits_within() if there is none
int depth_of_fewest_bytes(const ScaledMatrix &A, const RowSpace &rows, int n_steps, int deepest,
                          std::size_t most_bytes, int log_slice);

/// From a copy of A that has the rows for the depth that is wanted, or for the deepest that may be
/// best. @throws DeviceError as make_matrix_powers()
std::unique_ptr<MatrixPowers> make_streamed_powers(const Matrix &A, const DiagonalView &m,
                                                   const MatrixPowersOptions &options,
                                                   const PowersForms &forms);

/// Why these blocks, or those of another part, are of no use; empty if all are.
std::string obstacle_of_all(const RowSpace &rows, const CacheBlocks &blocks);

/// Products with a matrix that stays in the memory of the executor, whose ghosts come once in
/// @p depth steps. @param copy with the rows for these
std::unique_ptr<MatrixPowers> make_exchanging_powers(const HostCopy &copy, int depth);
} // namespace femgpu::linalg

#endif
