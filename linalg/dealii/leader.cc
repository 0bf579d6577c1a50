#include "linalg/dealii/leader.h"

#include "linalg/base/error.h"
#include "linalg/mpi/nodes.h"

#include <deal.II/base/mpi.h>

#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>

#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace femgpu::linalg
{
namespace
{
using ErrorText = std::pair<int, std::string>; // code 0: no error

ErrorText capture_error(const std::function<void()> &work)
{
  try {
    work();
  }
  catch (const Error &e) {
    return {static_cast<int>(e.code()), e.what()};
  }
  catch (const std::bad_alloc &) {
    return {static_cast<int>(ExitCode::device),
            "The host does not have enough memory for the solver. Refine less."};
  }
  catch (const std::exception &e) {
    return {static_cast<int>(ExitCode::not_converged), e.what()};
  }
  return {0, ""};
}

/// Waits until the other leaders have finished their work too. A leader that has failed waits for a
/// limited time only, because the others may be waiting for it within their work.
/// @return whether all leaders have finished
bool wait_for_other_leaders(const SolverGroups &groups, const bool has_failed)
{
  constexpr std::chrono::milliseconds timeout{2000};
  return groups.n_groups() == 1 ||
         sleeping_barrier(groups.leaders(), has_failed ? timeout : std::chrono::hours(1000000));
}

/// Returns the first error of the leaders, in rank order.
ErrorText first_error(const SolverGroups &groups, const ErrorText &mine)
{
  for (const ErrorText &error : dealii::Utilities::MPI::all_gather(groups.leaders(), mine))
    if (error.first != 0)
      return error;
  return {0, ""};
}

void throw_error(const ErrorText &error)
{
  if (error.first != 0)
    throw Error(static_cast<ExitCode>(error.first), error.second);
}
} // namespace

void run_on_leaders(const SolverGroups &groups,
                    const std::function<void(const std::function<void()> &call_event)> &work,
                    const std::function<void()> &event)
{
  enum : int
  {
    done,
    has_event
  };
  const MPI_Comm group = groups.group();
  const auto wake_group = [&](const int reason) {
    sleeping_barrier(group);
    return dealii::Utilities::MPI::broadcast(group, reason, 0);
  };
  ErrorText error(0, "");
  std::exception_ptr failure; // error of event() on this rank if it is not a leader; an error of
                              // the leader ends the work and is thrown on all ranks
  if (groups.is_leader()) {
    const SolverGroups::ScopedLeaderAffinity cores(groups);
    error = capture_error([&] {
      work([&] {
        wake_group(has_event);
        event();
      });
    });
    if (!wait_for_other_leaders(groups, error.first != 0))
      throw_error(error);
    error = first_error(groups, error);
    wake_group(done);
  }
  else
    while (wake_group(done) == has_event) {
      try {
        event();
      }
      catch (...) {
        failure = std::current_exception();
      }
    }
  throw_error(dealii::Utilities::MPI::broadcast(group, error, 0));
  if (failure)
    std::rethrow_exception(failure);
}

void run_on_leaders(const SolverGroups &groups, const std::function<void()> &work)
{
  run_on_leaders(
      groups, [&](const std::function<void()> &) { work(); }, [] {});
}
} // namespace femgpu::linalg
