#ifndef femgpu_linalg_mpi_ghost_plan_h
#define femgpu_linalg_mpi_ghost_plan_h

#include "linalg/operators/row_space.h"

#include <mpi.h>

#include <algorithm>
#include <vector>

namespace femgpu::linalg
{
/**
 * Collective, one rank for each part: tells the others which of their rows are ghosts here.
 * @param ghosts global numbers, ascending, of the rows of others that the part needs
 * @param starts the first row of each part, and the number of rows
 */
GhostPlan make_ghost_plan(const std::vector<long long> &ghosts,
                          const std::vector<long long> &starts, MPI_Comm parts);

/// The number of global row @p row in the part that has the rows from @p first on, @p n of them,
/// and then its ghosts.
inline int local_number(const long long row, const long long first, const int n,
                        const std::vector<long long> &ghosts)
{
  if (row >= first && row < first + n)
    return static_cast<int>(row - first);
  return n + static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), row) - ghosts.begin());
}
} // namespace femgpu::linalg

#endif
