#include "solve/ranks.h"

#include "linalg/execution/make_executor.h"
#include "linalg/mpi/nodes.h"
#include "linalg/mpi/rank_executor.h"

#include <chrono>
#include <iostream>

namespace femgpu
{
Ranks::Ranks()
{
  if (!linalg::was_started_by_mpi())
    return;
  linalg::skip_hardware_discovery();
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &failure_communicator);
}

Ranks::~Ranks()
{
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  if (is_initialized != 0)
    MPI_Finalize();
}

linalg::ExecutorPtr Ranks::make_executor(const std::string &backend,
                                         const linalg::Resources &resources) const
{
  return is_parallel() ? linalg::make_rank_executor(communicator(), backend, resources)
                       : linalg::make_executor(backend, resources);
}

long long Ranks::sum(long long number) const
{
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_LONG_LONG, MPI_SUM, communicator());
  return number;
}

long long Ranks::sum_before(const long long number) const
{
  long long sum = 0;
  MPI_Exscan(&number, &sum, 1, MPI_LONG_LONG, MPI_SUM, communicator());
  return rank == 0 ? 0 : sum;
}

long long Ranks::max(long long number) const
{
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_LONG_LONG, MPI_MAX, communicator());
  return number;
}

std::string Ranks::broadcast(std::string text) const
{
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, communicator());
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, communicator());
  return text;
}

int Ranks::fail(const int exit_code, const std::string &message) const
{
  if (!is_parallel()) {
    std::cerr << message << std::endl;
    return exit_code;
  }
  constexpr std::chrono::milliseconds timeout{1000};
  const bool all_arrived = linalg::sleeping_barrier(failure_communicator, timeout);
  if (all_arrived && is_first())
    std::cerr << message << std::endl;
  if (!all_arrived) {
    std::cerr << message << " (rank " << rank << ")" << std::endl;
    MPI_Abort(communicator(), exit_code);
  }
  return exit_code;
}
} // namespace femgpu
