#include "solve/ranks.h"

#include "linalg/mpi/nodes.h"

#include <algorithm>
#include <chrono>
#include <iostream>

namespace femgpu
{
Ranks::Ranks()
{
  if (!linalg::was_started_by_mpi())
    return;
  linalg::spare_discovery();
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &for_failures);
}

Ranks::~Ranks()
{
  int is_there = 0;
  MPI_Initialized(&is_there);
  if (is_there != 0)
    MPI_Finalize();
}

Ranks::Node Ranks::node() const
{
  Node result{0, 1, 0};
  MPI_Comm here = linalg::ranks_of_node(communicator());
  MPI_Comm_rank(here, &result.rank);
  MPI_Comm_size(here, &result.size);
  const cpu_set_t cores = linalg::cores_of(here);
  MPI_Comm_free(&here);
  result.threads = static_cast<unsigned int>(std::max(1, CPU_COUNT(&cores) / result.size));
  return result;
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

std::string Ranks::of_first(std::string text) const
{
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, communicator());
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, communicator());
  return text;
}

int Ranks::fail(const int exit_code, const std::string &message) const
{
  if (!are_several()) {
    std::cerr << message << std::endl;
    return exit_code;
  }
  constexpr std::chrono::milliseconds patience{1000};
  const bool have_all = linalg::barrier_asleep(for_failures, patience);
  if (have_all && is_first())
    std::cerr << message << std::endl;
  if (!have_all) {
    std::cerr << message << " (rank " << rank << ")" << std::endl;
    MPI_Abort(communicator(), exit_code);
  }
  return exit_code;
}
} // namespace femgpu
