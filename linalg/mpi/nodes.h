#ifndef femgpu_linalg_mpi_nodes_h
#define femgpu_linalg_mpi_nodes_h

#include <mpi.h>

#include <sched.h>

#include <chrono>

/**
 * @file
 * Which ranks run on one node, and on which of its cores. All functions are collective; the
 * communicators that they give are the caller's to free.
 */
namespace femgpu::linalg
{
/// Those of this rank's node. FEMGPU_NODES=N in the environment makes N nodes of each one, for
/// tests of what several nodes do.
MPI_Comm ranks_of_node(MPI_Comm ranks);

/// The same ranks, those of a node one after the other.
MPI_Comm ranks_by_nodes(MPI_Comm ranks);

/// Collective: waits until every rank is here, asleep instead of spinning, but no longer than
/// @p patience. @return are they all here?
bool barrier_asleep(MPI_Comm communicator,
                    std::chrono::milliseconds patience = std::chrono::hours(1000000));

/// The cores that one or another of the ranks of a node may use.
cpu_set_t cores_of(MPI_Comm ranks);
} // namespace femgpu::linalg

#endif
