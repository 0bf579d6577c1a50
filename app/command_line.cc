#include "app/command_line.h"

#include "app/parameter_study.h"
#include "common/command_line_reader.h"

#include <utility>

namespace femgpu
{
namespace
{
constexpr const char *description =
    "Solve a partial differential equation on a GPU or on CPU cores. FILE.prm describes mesh,\n"
    "equation, solver and output; the results are VTU files, a convergence table and summary.json.";

constexpr const char *examples =
    "\n"
    "Example:\n"
    "  femgpu parameters/poisson.prm --backend host --refinements 4 "
    "--set 'Solver/Relative tolerance=1e-10'\n"
    "\n"
    "A first parameter file: femgpu --print-parameters prm > run.prm;\n"
    "then set the parameters without a default (\"Must be given\")";

/// Values of the options that set a parameter; empty if an option was not given.
struct ParameterOptions
{
  std::string backend, threads, directory, cycles;
};

void declare_options(CommandLineReader &reader, CommandLine &result, ParameterOptions &parameters)
{
  reader.positional("FILE.prm", "Parameter file; - reads standard input");
  reader.option("--set", "'Section/Key=value'",
                "Override one parameter; repeatable, the last one wins");
  reader.option("--study", "'Section/Key=value,value'",
                "Run for each value, or a..b for integers; repeatable, for all combinations; put "
                "values that contain commas in quotes: \"Section/Key='0, 1','2, 3'\"");
  reader.backend(parameters.backend);
  reader.option("--threads", "N", "Threads of the host backend, at least 1", parameters.threads);
  reader.option("--output", "DIR", "Directory for all results", parameters.directory);
  reader.option("--refinements", "N", "Mesh-refinement study of N cycles, at least 1",
                parameters.cycles);
  reader.flag("--continue", result.continues,
              "Go on from the last checkpoint in the output directory (Output/Checkpoint every)");
  reader.flag("--validate", result.validate,
              "Check parameters, mesh and boundary ids; solve nothing");
  reader.flag("--picture", result.picture,
              "With --validate: write the sides with their boundary ids to sides.vtu in the output "
              "directory, for ParaView and scripts/render.py --labels");
  reader.choice("--print-parameters", {"prm", "json", "md"},
                "Print all parameters with defaults and meaning", result.print_parameters);
  reader.option("--from", "FILE.inp",
                "Print a parameter file for the first step of an Abaqus or CalculiX input file; "
                "see docs/from_abaqus.md",
                result.from);
  reader.flag("--list", result.list, "List all physics, solvers, devices and other choices");
  reader.flag("--quiet", result.quiet, "Print errors only");
  reader.flag("--verbose", result.verbose, "Print details of every phase");
  reader.flag("--version", result.version, "Print the versions of femgpu and its libraries");
}

constexpr int max_threads = 4096; // the bound of Solver/Threads

void check_values(const CommandLineReader &reader, const ParameterOptions &parameters,
                  CommandLine &result)
{
  const std::vector<std::string> &files = reader.values("FILE.prm"), &set = reader.values("--set");
  if (files.size() > 1)
    reader.fail("two parameter files, '" + files[0] + "' and '" + files[1] +
                "'; give one, and change its values with --set 'Section/Key=value'");
  if (!files.empty())
    result.parameter_file = files[0];
  for (const std::string &text : set)
    if (text.find('=') == std::string::npos)
      reader.fail("--set '" + text + "' has no '='; write --set 'Section/Key=value'");
  result.study = reader.values("--study");
  parse_studies(result.study); // only to report errors
  const auto number = [&](const char *name, const std::string &text, const int max_value) {
    return text.empty() ? text : std::to_string(reader.parse_positive(text, name, max_value));
  };
  for (const auto &[path, value] :
       {std::pair("Solver/Backend=", parameters.backend),
        std::pair("Solver/Threads=", number("--threads", parameters.threads, max_threads)),
        std::pair("Output/Directory=", parameters.directory),
        std::pair("Study/Cycles=", number("--refinements", parameters.cycles, max_cycles))})
    if (!value.empty())
      result.overrides.push_back(path + value);
  result.overrides.insert(result.overrides.end(), set.begin(), set.end());
  if (result.picture && (!result.validate || !result.study.empty()))
    reader.fail("--picture needs --validate, for one run without --study");
  if (result.continues && (result.validate || !result.study.empty()))
    reader.fail("--continue goes on with one run; remove --validate and --study");
  if (result.quiet && result.verbose)
    reader.fail("--quiet and --verbose exclude each other; keep one of them");
  if (!result.from.empty() && !result.parameter_file.empty())
    reader.fail("--from translates '" + result.from + "' and runs nothing; remove '" +
                result.parameter_file + "', or redirect the output: femgpu --from " + result.from +
                " > " + result.parameter_file);
  if (result.parameter_file.empty() && !result.list && !result.version &&
      result.print_parameters.empty() && result.from.empty())
    reader.fail("no parameter file is given; write for example 'femgpu parameters/poisson.prm', "
                "or - to read standard input");
}
} // namespace

CommandLine parse_command_line(int argc, const char *const *argv)
{
  CommandLine result;
  CommandLineReader reader("femgpu", "FILE.prm [OPTIONS]", description,
                           std::string(exit_code_help) + examples);
  ParameterOptions parameters;
  declare_options(reader, result, parameters);
  result.help = reader.parse(argc, argv);
  if (result.help.empty())
    check_values(reader, parameters, result);
  return result;
}
} // namespace femgpu
