#ifndef femgpu_linalg_dealii_leader_h
#define femgpu_linalg_dealii_leader_h

#include <mpi.h>

#include <functional>

/**
 * @file
 * The first rank of a solver group, its leader, works while the others sleep.
 */
namespace femgpu::linalg
{
/// Collective. Runs @p work on the leader; its error becomes everybody's.
void on_leader(MPI_Comm comm, const std::function<void()> &work);

/**
 * Collective. The same for work that sometimes needs all ranks: whenever it calls what it is given,
 * they wake up, run @p event together, and sleep again. Where @p event throws, it does on all
 * ranks.
 */
void on_leader(MPI_Comm comm,
               const std::function<void(const std::function<void()> &call_event)> &work,
               const std::function<void()> &event);

/// Collective. Lets the leader run on every core that a rank may use, with a thread of OpenMP for
/// each; returns their number.
unsigned int share_cores(MPI_Comm comm);
} // namespace femgpu::linalg

#endif
