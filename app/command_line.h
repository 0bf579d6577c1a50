#ifndef femgpu_app_command_line_h
#define femgpu_app_command_line_h

#include <string>
#include <vector>

namespace femgpu
{
/// The upper bound of Study/Cycles.
constexpr unsigned max_cycles = 100;

/// The parsed and checked command line of femgpu.
struct CommandLine
{
  std::string parameter_file; ///< "-" for standard input; empty if none was given
  /// Overrides "Section/Key=value" for apply_parameters(). Options that set a parameter (--backend,
  /// --threads, --output, --refinements) come first; --set comes later and takes precedence.
  std::vector<std::string> overrides;
  std::vector<std::string> study; ///< "Section/Key=value,value", for parse_studies()
  bool continues = false;         ///< go on from the last checkpoint
  bool validate = false;          ///< check the input without solving
  bool picture = false;           ///< also write the sides of the mesh for a picture
  bool list = false;              ///< list all choices and the devices
  bool quiet = false;             ///< errors only
  bool verbose = false;           ///< more than one line per cycle
  std::string print_parameters;   ///< prm, json or md; empty if not requested
  std::string from;               ///< input file of Abaqus or CalculiX to translate; empty if none
  bool version = false;           ///< print versions
  std::string help;               ///< the help text if requested, otherwise empty
};

/**
 * Parses the command line. Neither prints anything nor exits; the help text is returned.
 * @throws ParameterError on a usage error, with a correction
 */
CommandLine parse_command_line(int argc, const char *const *argv);
} // namespace femgpu

#endif
