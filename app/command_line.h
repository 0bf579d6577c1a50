#ifndef femgpu_app_command_line_h
#define femgpu_app_command_line_h

#include <string>
#include <vector>

namespace femgpu
{
/// Of Study/Cycles.
constexpr unsigned most_cycles = 100;

/// The command line of femgpu as the user wrote it, checked.
struct CommandLine
{
  std::string parameter_file; ///< "-" is standard input; empty if none was given
  /// "Section/Key=value" for apply_parameters(): first those of options that stand for a parameter
  /// (--backend, --threads, --output, --refinements), then the explicit --set, which win.
  std::vector<std::string> overrides;
  std::vector<std::string> study; ///< "Section/Key=value,value", as parse_studies() reads it
  bool validate = false;          ///< check everything, solve nothing
  bool list = false;              ///< list what can be chosen, and the devices
  bool quiet = false;             ///< errors only
  bool verbose = false;           ///< more than the one line a cycle
  std::string print_parameters;   ///< prm, json or md; empty if not asked for
  bool version = false;           ///< print versions
  std::string help;               ///< the help text if it was asked for, otherwise empty
};

/**
 * Read the command line. Nothing is printed and the process does not end here: help is returned.
 * @throws ParameterError on a usage error; the text says what to write instead
 */
CommandLine parse_command_line(int argc, const char *const *argv);
} // namespace femgpu

#endif
