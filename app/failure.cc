#include "app/failure.h"

#include "common/atomic_file.h"
#include "common/spelling.h"
#include "linalg/base/host_memory.h"
#include "linalg/mpi/nodes.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace femgpu
{
namespace
{
/// Returns the path "Section/Key" of the parameter that @p error names: of the option of linalg, or
/// the path itself.
std::string path_of(const ParameterError &error)
{
  static const std::map<std::string, std::string> paths_of_options = {
      {"backend", "Solver/Backend"},     {"communicator", "Solver/Communicator"},
      {"devices", "Solver/Devices"},     {"energy tolerance", "Solver/Stop at"},
      {"execution", "Solver/Execution"}, {"format", "Solver/Format"},
      {"ordering", "Solver/Ordering"},   {"preconditioner", "Solver/Preconditioner"},
      {"scaling", "Solver/Scaling"},     {"solver", "Solver/Solver"}};
  const auto path = paths_of_options.find(error.parameter());
  return path == paths_of_options.end() ? error.parameter() : path->second;
}

/// Returns a prefix for the message of @p error: the location that set the parameter. If the
/// location is unknown, returns the parameter's path, or nothing if the message contains the path.
std::string location_of(const ParameterError &error, const ParameterLocations &locations)
{
  const std::string path = path_of(error);
  if (path.empty())
    return "";
  if (locations.exists(path))
    return locations.location_of(path) + ": ";
  return std::string(error.what()).find(path) == std::string::npos ? path + ": " : "";
}

/// Returns @p message with notes on look-alike characters in the values of parameter @p path and of
/// parameters that the message names.
std::string with_confusable_notes(std::string message, const std::string &path,
                                  const ParameterLocations &locations)
{
  for (const auto &[name, confusable] : locations.confusables)
    if (name == path || message.find(name) != std::string::npos)
      message += " Note that " + confusable + ".";
  return message;
}

/// The process ids of all ranks, for signals; empty unless all ranks share a host and a PID
/// namespace.
std::vector<pid_t> &process_ids()
{
  static std::vector<pid_t> all;
  return all;
}

MPI_Comm failure_communicator = MPI_COMM_NULL;

/// Returns the inode number of the PID namespace of this process; 0 if it is unavailable.
long pid_namespace()
{
  struct stat status = {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? static_cast<long>(status.st_ino) : 0;
}

/**
 * Terminates all ranks with exit code @p code. Uses signals if they reach all ranks, because
 * MPI_Abort() would print a second message about communicators.
 */
[[noreturn]] void terminate_all_ranks(const int code, MPI_Comm communicator)
{
  if (process_ids().empty())
    MPI_Abort(communicator, code);
  for (const pid_t process : process_ids())
    if (process != ::getpid()) {
      sigval value = {};
      value.sival_int = code;
      ::sigqueue(process, silent_termination_signal, value);
    }
  remove_partial_files();
  std::_Exit(code);
}
} // namespace

Error describe_failure(const std::exception_ptr &exception, const ParameterLocations &locations)
{
  try {
    std::rethrow_exception(exception);
  }
  catch (const ParameterError &error) {
    return {error.code(), with_confusable_notes(location_of(error, locations) + error.what(),
                                                path_of(error), locations)};
  }
  catch (const Error &error) {
    return error;
  }
  catch (const std::bad_alloc &) {
    return {ExitCode::device,
            "The host does not have enough memory: " + host_memory().bound +
                ". Refine less, lower the degree, or use a machine with more memory."};
  }
  catch (const dealii::ExceptionBase &error) {
    std::ostringstream text;
    text << "deal.II reported an unexpected error: ";
    error.print_info(text);
    text << "This is a bug in femgpu; please report it with the parameter file.\n" << error.what();
    return {ExitCode::input, text.str()};
  }
  catch (const std::exception &error) {
    return {ExitCode::input, std::string("Unexpected error: ") + error.what()};
  }
  catch (...) { // libraries may throw anything
    return {ExitCode::input,
            "An unknown error occurred. Please report it with the parameter file."};
  }
}

void init_failure_reporting(MPI_Comm communicator)
{
  failure_communicator = communicator;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  using Identity = std::array<long, 3>; // number of ranks on this node, PID namespace, process id
  const Identity mine = {dealii::Utilities::MPI::n_mpi_processes(node), pid_namespace(),
                         ::getpid()};
  MPI_Comm_free(&node);
  const auto all = dealii::Utilities::MPI::all_gather(communicator, mine);
  const auto n_all = static_cast<long>(all.size());
  process_ids().clear();
  if (std::all_of(all.begin(), all.end(),
                  [&](const Identity &rank) { return rank[0] == n_all && rank[1] == mine[1]; }))
    for (const Identity &rank : all)
      process_ids().push_back(static_cast<pid_t>(rank[2]));
}

ExitCode report_failure(const Error &error, MPI_Comm communicator)
{
  int code = static_cast<int>(error.code()), rank = 0;
  MPI_Comm_rank(communicator, &rank);
  // If only some ranks fail, the lowest failed rank terminates all ranks before another one prints.
  const std::chrono::milliseconds limit(2000 + 20 * rank);
  const bool all_arrived = linalg::sleeping_barrier(communicator, limit);
  if (rank == 0 || !all_arrived)
    std::cerr << "femgpu: " << with_short_values(error.what()) << std::endl;
  if (!all_arrived)
    terminate_all_ranks(code, communicator);
  MPI_Bcast(&code, 1, MPI_INT, 0, communicator);
  return static_cast<ExitCode>(code);
}

void terminate_program(const std::exception_ptr &exception)
{
  const ExitCode code =
      report_failure(describe_failure(exception, ParameterLocations()), failure_communicator);
  remove_partial_files();
  std::_Exit(static_cast<int>(code));
}
} // namespace femgpu
