#ifndef femgpu_linalg_powers_tuning_h
#define femgpu_linalg_powers_tuning_h

#include "linalg/powers/forms.h"

namespace femgpu::linalg
{
/**
 * Makes several candidates, times them with the actual matrix, and returns the fastest. The
 * candidates are the plain form, unless blocked is requested, and the few divisions into cache
 * blocks that move the fewest bytes, as estimated from the neighbourhoods of a sample of blocks. If
 * plain is a candidate, blocks are tried only if they promise to be clearly faster; if moreover A
 * is in host memory, streamed is tried instead of blocks.
 * @throws SolverError if blocked is requested and no blocks fit
 */
std::unique_ptr<MatrixPowers> make_tuned_powers(const Matrix &A, const DiagonalView &m,
                                                const MatrixPowersOptions &options,
                                                const PowersForms &forms, int log_slice);

/// Returns the largest depth to consider: the requested one, if there is one. Otherwise, if A is
/// distributed, the depth is limited so that no rank has more ghosts than own rows.
int deepest_sweep(const Matrix &A, const MatrixPowersOptions &options);

/// Returns the first row of each block, and the number of rows. The length of the blocks is
/// @p block; if this is parts_of_order, the blocks are the parts of A's ordering.
std::vector<int> block_starts(const Matrix &A, int block);

/// Returns how many bytes of the executor's memory a streamed matrix may use.
std::size_t memory_for_stream(const Executor &executor, const MatrixPowersOptions &options);

/// Returns the depth of the passes that stream the fewest bytes for @p n_steps steps.
/// @param rows the row space of the own rows
/// @param deepest largest depth for which A has the rows of ghosts
/// @throws DeviceError as plan_passes_within() if no depth is possible
int depth_of_fewest_bytes(const ScaledMatrix &A, const RowSpace &rows, int n_steps, int deepest,
                          std::size_t max_bytes, int log_slice);

/// Makes streamed powers with the requested depth or, if there is none, the depth that streams the
/// fewest bytes.
/// @throws DeviceError as make_matrix_powers()
std::unique_ptr<MatrixPowers> make_streamed_powers(const Matrix &A, const DiagonalView &m,
                                                   const MatrixPowersOptions &options,
                                                   const PowersForms &forms);

/// Returns why @p blocks are unusable on this or another rank; empty if they are usable on all.
std::string obstacle_on_any_rank(const RowSpace &rows, const CacheBlocks &blocks);

/// Makes powers with a matrix that stays in the executor's memory; ghosts are exchanged once per @p
/// depth steps.
/// @param copy contains the rows of ghosts that these steps need
std::unique_ptr<MatrixPowers> make_exchanging_powers(const HostCopy &copy, int depth);
} // namespace femgpu::linalg

#endif
