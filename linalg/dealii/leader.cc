#include "linalg/dealii/leader.h"

#include "linalg/base/error.h"
#include "linalg/dealii/node_memory.h"

#include <deal.II/base/mpi.h>

#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>

#include <omp.h>
#include <sched.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace femgpu::linalg
{
namespace
{
using ErrorText = std::pair<int, std::string>; // code 0: no error

ErrorText error_of(const std::function<void()> &work)
{
  try {
    work();
  }
  catch (const Error &e) {
    return {static_cast<int>(e.code()), e.what()};
  }
  catch (const std::bad_alloc &) {
    return {static_cast<int>(ExitCode::device),
            "The host has not enough memory for the solver. Refine less."};
  }
  catch (const std::exception &e) {
    return {static_cast<int>(ExitCode::not_converged), e.what()};
  }
  return {0, ""};
}
} // namespace

void on_leader(MPI_Comm comm,
               const std::function<void(const std::function<void()> &call_event)> &work,
               const std::function<void()> &event)
{
  enum : int
  {
    done,
    has_event
  };
  const auto wake_up = [&](const int reason) {
    barrier_asleep(comm);
    return dealii::Utilities::MPI::broadcast(comm, reason, 0);
  };
  ErrorText error(0, "");
  std::exception_ptr failure; // of another rank; the leader's ends the work and is everybody's
  if (dealii::Utilities::MPI::this_mpi_process(comm) == 0) {
    error = error_of([&] {
      work([&] {
        wake_up(has_event);
        event();
      });
    });
    wake_up(done);
  }
  else
    while (wake_up(done) == has_event) {
      try {
        event();
      }
      catch (...) {
        failure = std::current_exception();
      }
    }
  error = dealii::Utilities::MPI::broadcast(comm, error, 0);
  if (error.first != 0)
    throw Error(static_cast<ExitCode>(error.first), error.second);
  if (failure)
    std::rethrow_exception(failure);
}

void on_leader(MPI_Comm comm, const std::function<void()> &work)
{
  on_leader(
      comm, [&](const std::function<void()> &) { work(); }, [] {});
}

unsigned int share_cores(MPI_Comm comm)
{
  cpu_set_t mine, all;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof(mine), &mine);
  MPI_Allreduce(&mine, &all, sizeof(cpu_set_t), MPI_BYTE, MPI_BOR, comm);
  const int cores = CPU_COUNT(&all);
  if (dealii::Utilities::MPI::this_mpi_process(comm) == 0) {
    sched_setaffinity(0, sizeof(all), &all);
    omp_set_num_threads(cores);
  }
  return static_cast<unsigned int>(cores);
}
} // namespace femgpu::linalg
