#include "app/command_line.h"

#include "app/parameter_study.h"
#include "common/command_line_reader.h"

namespace femgpu
{
namespace
{
constexpr const char *description =
    "Solve a partial differential equation on the GPU or on the CPU cores: FILE.prm names mesh,\n"
    "equation, solver and output; VTU files, a convergence table and summary.json come out.";

constexpr const char *examples =
    "\n"
    "Example:\n"
    "  femgpu parameters/poisson.prm --backend host --refinements 4 "
    "--set 'Solver/Relative tolerance=1e-10'\n"
    "\n"
    "A first parameter file: femgpu --print-parameters prm > run.prm;\n"
    "in it, give what must be given (those data have no default)";

void declare_options(CommandLineReader &reader, CommandLine &result)
{
  reader.positional("FILE.prm", "Parameter file; - reads standard input");
  reader.option("--set", "'Section/Key=value'",
                "Override one parameter; repeatable, the last one wins");
  reader.option("--study", "'Section/Key=value,value'",
                "Run for each value, or a..b for integers; repeatable, for all combinations; put "
                "values that contain commas in quotes: \"Section/Key='0, 1','2, 3'\"");
  reader.option("--backend", "auto|host|cuda|cuda:K", "Where to solve; K is a device number");
  reader.option("--threads", "N", "Threads of the host backend, at least 1");
  reader.option("--output", "DIR", "Directory for all results");
  reader.option("--refinements", "N", "Mesh-refinement study of N cycles, at least 1");
  reader.flag("--validate", result.validate,
              "Check parameters, mesh and boundary ids; solve nothing");
  reader.option("--print-parameters", "prm|json|md",
                "Print all parameters with defaults and meaning");
  reader.flag("--list", result.list, "List what can be chosen: physics, solvers, devices, ...");
  reader.flag("--quiet", result.quiet, "Print errors only");
  reader.flag("--verbose", result.verbose, "Print details of every phase");
  reader.flag("--version", result.version, "Print the versions of femgpu and its libraries");
}

constexpr unsigned most_threads = 4096; // as Solver/Threads

void check_values(const CommandLineReader &reader, CommandLine &result)
{
  const std::vector<std::string> &files = reader.values("FILE.prm"), &set = reader.values("--set");
  if (files.size() > 1)
    reader.fail("two parameter files, '" + files[0] + "' and '" + files[1] +
                "'; give one, and changes to it with --set 'Section/Key=value'");
  result.parameter_file = reader.single("FILE.prm").value_or("");
  for (const std::string &text : set)
    if (text.find('=') == std::string::npos)
      reader.fail("--set '" + text + "' has no '='; write --set 'Section/Key=value'");
  result.study = reader.values("--study");
  parse_studies(result.study); // throws for what cannot be read
  if (const auto backend = reader.backend("--backend"))
    result.overrides.push_back("Solver/Backend=" + *backend);
  if (const auto n = reader.positive_number("--threads", most_threads))
    result.overrides.push_back("Solver/Threads=" + std::to_string(*n));
  if (const auto directory = reader.single("--output"))
    result.overrides.push_back("Output/Directory=" + *directory);
  if (const auto n = reader.positive_number("--refinements", most_cycles))
    result.overrides.push_back("Study/Cycles=" + std::to_string(*n));
  result.overrides.insert(result.overrides.end(), set.begin(), set.end());
  result.print_parameters = reader.word("--print-parameters", {"prm", "json", "md"}).value_or("");
  if (result.quiet && result.verbose)
    reader.fail("--quiet and --verbose exclude each other; keep one of them");
  if (result.parameter_file.empty() && !result.list && !result.version &&
      result.print_parameters.empty())
    reader.fail("no parameter file is given; write for example 'femgpu parameters/poisson.prm', "
                "or - to read standard input");
}
} // namespace

CommandLine parse_command_line(int argc, const char *const *argv)
{
  CommandLine result;
  CommandLineReader reader("femgpu", "FILE.prm [OPTIONS]", description,
                           std::string(exit_code_help) + examples);
  declare_options(reader, result);
  result.help = reader.parse(argc, argv);
  if (result.help.empty())
    check_values(reader, result);
  return result;
}
} // namespace femgpu
