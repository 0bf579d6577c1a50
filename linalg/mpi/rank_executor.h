#ifndef femgpu_linalg_mpi_rank_executor_h
#define femgpu_linalg_mpi_rank_executor_h

#include "linalg/memory/executor.h"

#include <mpi.h>

#include <string>

namespace femgpu::linalg
{
/**
 * Returns the executor of this rank. The ranks of a node are assigned to its CUDA devices
 * cyclically or, if it has none, share its cores. Sets n_loop_threads() to the rank's share of the
 * cores. Collective.
 * @param backend as for make_executor() (linalg/execution/make_executor.h); auto and cuda denote
 * all devices of a node
 * @throws ParameterError and DeviceError as make_executor()
 */
ExecutorPtr make_rank_executor(MPI_Comm ranks, const std::string &backend,
                               Resources resources = {});
} // namespace femgpu::linalg

#endif
