#ifndef femgpu_linalg_powers_tuning_h
#define femgpu_linalg_powers_tuning_h

#include "linalg/powers/forms.h"

namespace femgpu::linalg
{
/**
 * The fastest of plain, unless blocked is asked for, and of those few cache blocks that should move
 * the fewest bytes by the neighbourhoods of a sample of blocks. Each is made and run with the
 * matrix as it is.
 * @throws SolverError if blocked is asked for and no blocks fit
 */
std::unique_ptr<MatrixPowers> make_tuned_powers(const Matrix &A, const DiagonalView &m,
                                                const MatrixPowersOptions &options,
                                                const PowersForms &forms, int log_slice);

/// Visits of that depth which streams the fewest bytes for @p n_steps steps.
/// @throws DeviceError as plan_visits_within() if there is none
RowVisits fewest_bytes(const HostCsr &A, int n_steps, std::size_t most_bytes, int log_slice);
} // namespace femgpu::linalg

#endif
