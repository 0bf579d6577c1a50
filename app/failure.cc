#include "app/failure.h"

#include <deal.II/base/exceptions.h>

#include <chrono>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <thread>

namespace femgpu
{
namespace
{
/// Where the parameter was set, or, where that was not in a file, which it is; unless the message
/// says so.
std::string place_of(const ParameterError &error, const ParameterPlaces &places)
{
  const std::string &path = error.path();
  if (path.empty())
    return "";
  if (places.exists(path))
    return places.place_of(path) + ": ";
  return std::string(error.what()).find(path) == std::string::npos ? path + ": " : "";
}

/// Does every rank come here within @p limit?
bool everybody_failed(MPI_Comm communicator, const std::chrono::milliseconds limit)
{
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(communicator, &request);
  const auto end = std::chrono::steady_clock::now() + limit;
  int done = 0;
  while (done == 0 && std::chrono::steady_clock::now() < end) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done != 0;
}
} // namespace

Failure describe_failure(const std::exception_ptr &exception, const ParameterPlaces &places)
{
  try {
    std::rethrow_exception(exception);
  }
  catch (const ParameterError &error) {
    return {error.code(), place_of(error, places) + error.what()};
  }
  catch (const Error &error) {
    return {error.code(), error.what()};
  }
  catch (const std::bad_alloc &) {
    return {ExitCode::device, "The host has not enough memory. Refine less, lower the degree, or "
                              "run on more memory."};
  }
  catch (const dealii::ExceptionBase &error) {
    std::ostringstream text;
    text << "deal.II found an error that femgpu does not know: ";
    error.print_info(text);
    text << "This is a defect of femgpu; please report it with the parameter file.\n"
         << error.what();
    return {ExitCode::input, text.str()};
  }
  catch (const std::exception &error) {
    return {ExitCode::input, std::string("An error that femgpu does not know: ") + error.what()};
  }
  catch (...) { // libraries may throw anything
    return {ExitCode::input, "An error that femgpu does not know, and that says nothing of itself. "
                             "Please report it with the parameter file."};
  }
}

ExitCode report_failure(const Failure &failure, MPI_Comm communicator)
{
  int code = static_cast<int>(failure.code), rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const bool together = everybody_failed(communicator, std::chrono::seconds(2));
  if (rank == 0 || !together)
    std::cerr << "femgpu: " << failure.text << std::endl;
  if (!together)
    MPI_Abort(communicator, code);
  MPI_Bcast(&code, 1, MPI_INT, 0, communicator);
  return static_cast<ExitCode>(code);
}
} // namespace femgpu
