#ifndef femgpu_linalg_mpi_nodes_h
#define femgpu_linalg_mpi_nodes_h

#include <mpi.h>

#include <sched.h>

#include <chrono>

/**
 * @file
 * Which ranks run on one node, and on which of its cores. All functions with a communicator are
 * collective; the communicators that they give are the caller's to free.
 */
namespace femgpu::linalg
{
/// By the variables that mpirun of Open MPI, MPICH and others, and srun, set for their processes.
bool was_started_by_mpi();

/**
 * To be called before MPI_Init, alone: where all ranks are on this host, Open MPI looks for no
 * network, and hwloc, which it asks for cores, for no device; and a process that mpirun has not
 * started starts no daemon. Open MPI 4.1 waits 0.1 s for each of two networks (psm, psm2) and
 * starts its daemon in 0.1 s, of 0.32 s in all. On a virtual machine ranks wait for each other to
 * read of its PCI bus, 64 of them 0.7 s. What the user has set stays.
 */
void spare_discovery();

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
