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

/// Every occurrence of every option with a value; one that was given twice is ours to report.
struct RawOptions
{
  std::vector<std::string> files, set, study, backend, threads, output, refinements,
      print_parameters;
};

void declare_options(CommandLineReader &reader, RawOptions &raw, CommandLine &result)
{
  reader.positional("FILE.prm", raw.files, "Parameter file; - reads standard input");
  reader.option("--set", raw.set, "'Section/Key=value'",
                "Override one parameter; repeatable, the last one wins");
  reader.option("--study", raw.study, "'Section/Key=value,value'",
                "Run for each value, or a..b for integers; repeatable, for all combinations");
  reader.option("--backend", raw.backend, "auto|host|cuda|cuda:K",
                "Where to solve; K is a device number");
  reader.option("--threads", raw.threads, "N", "Threads of the host backend, at least 1");
  reader.option("--output", raw.output, "DIR", "Directory for all results");
  reader.option("--refinements", raw.refinements, "N",
                "Mesh-refinement study of N cycles, at least 1");
  reader.flag("--validate", result.validate,
              "Check parameters, mesh and boundary ids; solve nothing");
  reader.option("--print-parameters", raw.print_parameters, "prm|json|md",
                "Print all parameters with defaults and meaning");
  reader.flag("--list", result.list, "List what can be chosen: physics, solvers, devices, ...");
  reader.flag("--quiet", result.quiet, "Print errors only");
  reader.flag("--verbose", result.verbose, "Print details of every phase");
  reader.flag("--version", result.version, "Print the versions of femgpu and its libraries");
}

constexpr unsigned most_threads = 4096; // as Solver/Threads

void check_values(const CommandLineReader &reader, const RawOptions &raw, CommandLine &result)
{
  if (raw.files.size() > 1)
    reader.fail("two parameter files, '" + raw.files[0] + "' and '" + raw.files[1] +
                "'; give one, and changes to it with --set 'Section/Key=value'");
  result.parameter_file = reader.single(raw.files, "FILE.prm").value_or("");
  for (const std::string &text : raw.set)
    if (text.find('=') == std::string::npos)
      reader.fail("--set '" + text + "' has no '='; write --set 'Section/Key=value'");
  parse_studies(raw.study); // throws for what cannot be read
  result.study = raw.study;
  if (const auto backend = reader.backend(raw.backend, "--backend"))
    result.overrides.push_back("Solver/Backend=" + *backend);
  if (const auto n = reader.positive_number(raw.threads, "--threads", most_threads))
    result.overrides.push_back("Solver/Threads=" + std::to_string(*n));
  if (const auto directory = reader.single(raw.output, "--output"))
    result.overrides.push_back("Output/Directory=" + *directory);
  if (const auto n = reader.positive_number(raw.refinements, "--refinements", most_cycles))
    result.overrides.push_back("Study/Cycles=" + std::to_string(*n));
  result.overrides.insert(result.overrides.end(), raw.set.begin(), raw.set.end());
  result.print_parameters =
      reader.word(raw.print_parameters, "--print-parameters", {"prm", "json", "md"}).value_or("");
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
  RawOptions raw;
  CommandLineReader reader("femgpu", "FILE.prm [OPTIONS]", description,
                           std::string(exit_code_help) + examples);
  declare_options(reader, raw, result);
  result.help = reader.parse(argc, argv);
  if (result.help.empty())
    check_values(reader, raw, result);
  return result;
}
} // namespace femgpu
