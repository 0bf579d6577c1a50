#ifndef femgpu_linalg_base_error_h
#define femgpu_linalg_base_error_h

#include <stdexcept>
#include <string>

namespace femgpu
{
/**
 * Exit codes of the programs; documented in README.md and by `femgpu --help`.
 */
enum class ExitCode : int
{
  done = 0,
  parameter = 1,
  input = 2,
  not_converged = 3,
  device = 4,
  output = 5
};

/**
 * Root of everything femgpu throws on purpose. The text names the place, the operands with their
 * values, and the cure. main() is the one place that catches it.
 */
class Error : public std::runtime_error
{
public:
  Error(ExitCode code, const std::string &message) : std::runtime_error(message), exit_code(code)
  {}

  /// The status the process ends with when nobody can do better.
  ExitCode code() const
  {
    return exit_code;
  }

private:
  ExitCode exit_code;
};

/**
 * Wrong command line, unknown parameter, value out of range, a combination that cannot work.
 * Where one parameter is to blame, path() is its "Section/Key", so that main() can add the line of
 * the file it was set in.
 */
class ParameterError : public Error
{
public:
  explicit ParameterError(const std::string &message, const std::string &path = "")
      : Error(ExitCode::parameter, message), parameter_path(path)
  {}

  const std::string &path() const
  {
    return parameter_path;
  }

private:
  std::string parameter_path;
};

/// An input file or mesh that is missing, damaged or does not fit the parameters.
struct InputError : Error
{
  explicit InputError(const std::string &message) : Error(ExitCode::input, message)
  {}
};

/// A solver that was asked for something it cannot do with this system.
struct SolverError : Error
{
  explicit SolverError(const std::string &message) : Error(ExitCode::not_converged, message)
  {}
};

/// A missing or failing device, or too little memory on host or device.
struct DeviceError : Error
{
  explicit DeviceError(const std::string &message) : Error(ExitCode::device, message)
  {}
};

/// A file or directory that could not be written.
struct OutputError : Error
{
  explicit OutputError(const std::string &message) : Error(ExitCode::output, message)
  {}
};
} // namespace femgpu

#endif
