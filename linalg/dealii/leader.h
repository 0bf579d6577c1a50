#ifndef femgpu_linalg_dealii_leader_h
#define femgpu_linalg_dealii_leader_h

#include "linalg/mpi/solver_groups.h"

#include <functional>

/**
 * @file
 * The first rank of a solver group, its leader, works on the group's cores while the others sleep.
 * All functions are collective over all groups: their leaders do the same work, each for its part.
 */
namespace femgpu::linalg
{
/// Runs @p work on the leaders. The error of one becomes everybody's where all come to the end of
/// their work. Where the others do not within two seconds of it, as they wait for the one that has
/// failed, it throws alone, which is to end the program.
void on_leaders(const SolverGroups &groups, const std::function<void()> &work);

/**
 * The same for work that sometimes needs all ranks: whenever the leaders call what they are given,
 * the others wake up, run @p event together, and sleep again. Where @p event throws, it does on all
 * ranks.
 */
void on_leaders(const SolverGroups &groups,
                const std::function<void(const std::function<void()> &call_event)> &work,
                const std::function<void()> &event);
} // namespace femgpu::linalg

#endif
