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
 * The base class of all exceptions that femgpu throws on purpose. The message says what is wrong,
 * where, with which values, and what to do. main() reports uncaught errors and returns their
 * exit code.
 */
class Error : public std::runtime_error
{
public:
  Error(ExitCode code, const std::string &message) : std::runtime_error(message), exit_code(code)
  {}

  /// The exit status of the process if the exception is not handled.
  ExitCode code() const
  {
    return exit_code;
  }

private:
  ExitCode exit_code;
};

/**
 * An invalid command line, unknown parameter, value out of range, or unsupported combination. If a
 * single parameter is the cause, parameter() is its name: an option of linalg, such as "scaling" or
 * "energy tolerance", or, in the program femgpu, the "Section/Key" of its parameter file.
 */
class ParameterError : public Error
{
public:
  explicit ParameterError(const std::string &message, const std::string &parameter = "")
      : Error(ExitCode::parameter, message), name(parameter)
  {}

  const std::string &parameter() const
  {
    return name;
  }

private:
  std::string name;
};

/// An input file or mesh that is missing, damaged or inconsistent with the parameters.
struct InputError : Error
{
  explicit InputError(const std::string &message) : Error(ExitCode::input, message)
  {}
};

/// A solver or preconditioner that does not support or cannot handle the system.
struct SolverError : Error
{
  explicit SolverError(const std::string &message) : Error(ExitCode::not_converged, message)
  {}
};

/// A missing or failing device, or insufficient memory on the host or the device.
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
