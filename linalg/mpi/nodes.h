#ifndef femgpu_linalg_mpi_nodes_h
#define femgpu_linalg_mpi_nodes_h

#include <mpi.h>

#include <sched.h>

#include <chrono>

/**
 * @file
 * The ranks and the cores of a node. All functions with a communicator are collective; the caller
 * has to free the communicators that they return.
 */
namespace femgpu::linalg
{
/// Returns whether mpirun (of Open MPI, MPICH or others) or srun started this process, according to
/// the environment variables that these programs set.
bool was_started_by_mpi();

/**
 * Reduces the time of MPI_Init; must be called before it. If all ranks are on this host, Open MPI
 * does not look for networks, and the library hwloc, by which Open MPI detects cores, does not look
 * for devices. A process that was not started by mpirun starts no daemon. Without this function,
 * the MPI_Init of Open MPI 4.1 takes 0.32 s: 0.1 s for each of two networks (psm, psm2) and 0.1 s
 * to start the daemon. On a virtual machine, 64 ranks take 0.7 s, because they wait for each other
 * to read the PCI bus. Environment variables that the user has set are kept.
 */
void skip_hardware_discovery();

/// Returns a communicator of the ranks of this rank's node. For tests with several nodes,
/// FEMGPU_NODES=N in the environment divides each node into N nodes.
MPI_Comm split_by_node(MPI_Comm ranks);

/// Returns a communicator of all of @p ranks, in which the ranks of a node are consecutive.
MPI_Comm reorder_by_node(MPI_Comm ranks);

/// Waits, sleeping instead of spinning, until every rank has called this function or @p timeout has
/// passed. Collective.
/// @return whether all ranks have arrived
bool sleeping_barrier(MPI_Comm communicator,
                      std::chrono::milliseconds timeout = std::chrono::hours(1000000));

/// Returns the union of the cores that the ranks of a node may use.
cpu_set_t allowed_cores(MPI_Comm ranks);
} // namespace femgpu::linalg

#endif
