#ifndef femgpu_linalg_dealii_leader_h
#define femgpu_linalg_dealii_leader_h

#include "linalg/mpi/solver_groups.h"

#include <functional>

/**
 * @file
 * Runs work on the leaders of solver groups, the first rank of each, with the cores of their group
 * while its other ranks sleep. All functions are collective over all groups: their leaders do the
 * same work, each on its rows.
 */
namespace femgpu::linalg
{
/// Runs @p work on the leaders. If all leaders finish their work, an error of one is thrown on all
/// ranks. If the others do not finish within two seconds because they wait for the failed leader,
/// that leader throws alone, which should end the program.
void run_on_leaders(const SolverGroups &groups, const std::function<void()> &work);

/**
 * Runs work that sometimes needs all ranks. Whenever the leaders call the function that @p work
 * gets, the other ranks wake up, all ranks run @p event, and the ranks that are not leaders sleep
 * again. If @p event throws, it must throw on all ranks.
 */
void run_on_leaders(const SolverGroups &groups,
                    const std::function<void(const std::function<void()> &call_event)> &work,
                    const std::function<void()> &event);
} // namespace femgpu::linalg

#endif
