#ifndef femgpu_linalg_dealii_leader_h
#define femgpu_linalg_dealii_leader_h

#include "linalg/mpi/solver_groups.h"

#include <functional>

/**
 * @file
 * Functions that run work on the leaders of solver groups, the first rank of each group. A leader
 * uses all cores of its group, while the other ranks of the group sleep. The functions are
 * collective over all groups: all leaders do the same work, each on its own rows.
 */
namespace femgpu::linalg
{
/// Runs @p work on the leaders. If @p work throws on one leader and all leaders finish, the error
/// is thrown on all ranks. If the others do not finish within two seconds, because they wait for
/// the failed leader, only that leader throws, which should end the program.
void run_on_leaders(const SolverGroups &groups, const std::function<void()> &work);

/**
 * Runs @p work, which sometimes needs all ranks, on the leaders. Whenever the leaders call the
 * function that is passed to @p work, the other ranks wake up, all ranks run @p event, and the
 * ranks that are not leaders sleep again. If @p event throws, it must throw on all ranks.
 */
void run_on_leaders(const SolverGroups &groups,
                    const std::function<void(const std::function<void()> &call_event)> &work,
                    const std::function<void()> &event);
} // namespace femgpu::linalg

#endif
