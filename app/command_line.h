#ifndef femgpu_app_command_line_h
#define femgpu_app_command_line_h

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// Of Study/Cycles.
constexpr unsigned most_cycles = 100;

/// The command line of femgpu as the user wrote it, checked.
struct CommandLine
{
  std::string parameter_file;          ///< "-" is standard input; empty if none was given
  std::vector<std::string> set;        ///< "Section/Key=value", in the order given
  std::vector<std::string> study;      ///< "Section/Key=value,value", as parse_studies() reads it
  std::optional<std::string> backend;  ///< auto, host, cuda or cuda:K
  std::optional<unsigned> threads;     ///< >= 1
  std::optional<std::string> output;   ///< directory
  std::optional<unsigned> refinements; ///< cycles of a mesh-refinement study, >= 1
  bool validate = false;               ///< check everything, solve nothing
  bool list = false;                   ///< list what can be chosen, and the devices
  bool quiet = false;                  ///< errors only
  bool verbose = false;                ///< more than the one line a cycle
  std::string print_parameters;        ///< prm, json or md; empty if not asked for
  bool version = false;                ///< print versions
  std::string help;                    ///< the help text if it was asked for, otherwise empty
};

/**
 * Read the command line. Nothing is printed and the process does not end here: help is returned.
 * @throws ParameterError on a usage error; the text says what to write instead
 */
CommandLine parse_command_line(int argc, const char *const *argv);

/**
 * The options that stand for a parameter, as overrides for apply_parameters(): `--backend`,
 * `--threads`, `--output`, `--refinements` become Solver/Backend, Solver/Threads, Output/Directory,
 * Study/Cycles; the explicit `--set` follow and win.
 */
std::vector<std::string> as_overrides(const CommandLine &command_line);
} // namespace femgpu

#endif
