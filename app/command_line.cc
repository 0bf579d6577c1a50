#include "app/command_line.h"

#include "app/spelling.h"
#include "linalg/base/error.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <memory>

namespace femgpu
{
namespace
{
constexpr const char *description =
    "Solve a partial differential equation on the GPU or on the CPU cores: FILE.prm names mesh,\n"
    "equation, solver and output; VTU files, a convergence table and summary.json come out.";

constexpr const char *footer = "Exit codes:\n"
                               "  0  done\n"
                               "  1  usage or parameter error\n"
                               "  2  input file or mesh missing or damaged\n"
                               "  3  solver did not converge\n"
                               "  4  device or memory error\n"
                               "  5  output could not be written\n"
                               "\n"
                               "Example:\n"
                               "  femgpu parameters/poisson.prm --backend host --refinements 4 "
                               "--set 'Solver/Relative tolerance=1e-10'\n"
                               "\n"
                               "A first parameter file: femgpu --print-parameters prm > run.prm";

/// Every occurrence of every option with a value; one that was given twice is ours to report.
struct RawOptions
{
  std::vector<std::string> files, set, backend, threads, output, refinements, print_parameters;
};

/// CLI11's help, without the "..." behind options that may be given only once.
class HelpFormatter : public CLI::Formatter
{
public:
  std::string make_usage(const CLI::App *, std::string name) const override
  {
    return "Usage: " + name + " FILE.prm [OPTIONS]\n";
  }

  std::string make_option_opts(const CLI::Option *option) const override
  {
    return option->get_type_name().empty() ? "" : " " + option->get_type_name();
  }
};

[[noreturn]] void usage_error(const std::string &message)
{
  throw ParameterError("command line: " + message + "; 'femgpu --help' shows every option");
}

void declare_options(CLI::App &app, RawOptions &raw, CommandLine &result)
{
  const auto text = [&](const char *name, std::vector<std::string> &values, const char *type,
                        const char *meaning) {
    return app.add_option(name, values, meaning)->type_name(type)->allow_extra_args(false);
  };
  text("FILE.prm", raw.files, "", "Parameter file; - reads standard input")->allow_extra_args(true);
  text("--set", raw.set, "'Section/Key=value'",
       "Override one parameter; repeatable, the last one wins");
  text("--backend", raw.backend, "auto|host|cuda|cuda:K", "Where to solve; K is a device number");
  text("--threads", raw.threads, "N", "Threads of the host backend, at least 1");
  text("--output", raw.output, "DIR", "Directory for all results");
  text("--refinements", raw.refinements, "N", "Mesh-refinement study of N cycles, at least 1");
  app.add_flag("--validate", result.validate,
               "Check parameters, mesh and boundary ids; solve nothing");
  text("--print-parameters", raw.print_parameters, "prm|json|md",
       "Print all parameters with defaults and meaning");
  app.add_flag("--list", result.list, "List what can be chosen: physics, solvers, devices, ...");
  app.add_flag("--quiet", result.quiet, "Print errors only");
  app.add_flag("--verbose", result.verbose, "Print details of every phase");
  app.add_flag("--version", result.version, "Print the versions of femgpu and its libraries");
}

/// The unknown option first met, with the nearest valid one.
void refuse_unknown(const CLI::App &app)
{
  std::vector<std::string> unknown = app.remaining();
  unknown.erase(std::remove(unknown.begin(), unknown.end(), "--"), unknown.end());
  if (unknown.empty())
    return;
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  std::vector<std::string> names{"--help"};
  for (const CLI::Option *option : app.get_options())
    if (option->nonpositional())
      names.push_back("--" + option->get_lnames().front());
  const std::string near_name = nearest(word, names);
  usage_error("unknown option '" + word + "'" +
              (near_name.empty() ? "" : "; did you mean '" + near_name + "'?"));
}

/// The value of an option that may be given once; nothing if it was not given.
std::optional<std::string> single(const std::vector<std::string> &values, const std::string &name)
{
  if (values.empty())
    return std::nullopt;
  if (values.size() > 1)
    usage_error(name + " is given twice, with '" + values[0] + "' and '" + values[1] +
                "'; keep one of them");
  if (values[0].empty())
    usage_error(name + " has an empty value; give one or leave the option out");
  return values[0];
}

bool is_number(const std::string &text)
{
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::optional<unsigned> positive_number(const std::vector<std::string> &values,
                                        const std::string &name)
{
  const std::optional<std::string> text = single(values, name);
  if (!text)
    return std::nullopt;
  constexpr std::size_t most_digits = 9; // fits into int and unsigned
  const unsigned long number =
      is_number(*text) && text->size() <= most_digits ? std::stoul(*text) : 0;
  if (number == 0)
    usage_error(name + " " + *text + ": give an integer from 1 to 999999999");
  return static_cast<unsigned>(number);
}

std::optional<std::string> backend_name(const std::vector<std::string> &values)
{
  std::optional<std::string> name = single(values, "--backend");
  if (!name || *name == "auto" || *name == "host" || *name == "cuda")
    return name;
  if (name->rfind("cuda:", 0) == 0 && is_number(name->substr(5)) && name->size() <= 9)
    return name;
  const std::string near_name = nearest(*name, {"auto", "host", "cuda"});
  usage_error("--backend " + *name +
              " is no backend; choose auto, host, cuda or cuda:K with a device number K" +
              (near_name.empty() ? "" : "; did you mean '" + near_name + "'?"));
}

std::string format_name(const std::vector<std::string> &values)
{
  std::string name = single(values, "--print-parameters").value_or("");
  if (!name.empty() && name != "prm" && name != "json" && name != "md")
    usage_error("--print-parameters " + name + ": choose prm, json or md");
  return name;
}

void check_values(const RawOptions &raw, CommandLine &result)
{
  if (raw.files.size() > 1)
    usage_error("two parameter files, '" + raw.files[0] + "' and '" + raw.files[1] +
                "'; give one, and changes to it with --set 'Section/Key=value'");
  result.parameter_file = single(raw.files, "FILE.prm").value_or("");
  for (const std::string &text : raw.set)
    if (text.find('=') == std::string::npos)
      usage_error("--set '" + text + "' has no '='; write --set 'Section/Key=value'");
  result.set = raw.set;
  result.backend = backend_name(raw.backend);
  result.threads = positive_number(raw.threads, "--threads");
  result.output = single(raw.output, "--output");
  result.refinements = positive_number(raw.refinements, "--refinements");
  result.print_parameters = format_name(raw.print_parameters);
  if (result.quiet && result.verbose)
    usage_error("--quiet and --verbose exclude each other; keep one of them");
  if (result.parameter_file.empty() && !result.list && !result.version &&
      result.print_parameters.empty())
    usage_error("no parameter file is given; write for example 'femgpu parameters/poisson.prm', "
                "or - to read standard input");
}
} // namespace

CommandLine parse_command_line(int argc, const char *const *argv)
{
  CommandLine result;
  RawOptions raw;
  CLI::App app(description, "femgpu");
  app.set_help_flag("-h,--help", "Print this text");
  app.footer(footer);
  app.allow_extras();
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(34);
  app.formatter(formatter);
  declare_options(app, raw, result);
  try {
    app.parse(argc, argv);
  }
  catch (const CLI::CallForHelp &) {
    result.help = app.help();
    return result;
  }
  catch (const CLI::ArgumentMismatch &error) {
    const std::string text = error.what(); // "--output: 1 required DIR missing"
    usage_error(text.substr(0, text.find(':')) + " has no value; give the option its value");
  }
  catch (const CLI::ParseError &error) {
    usage_error(error.what());
  }
  refuse_unknown(app);
  check_values(raw, result);
  return result;
}

std::vector<std::string> as_overrides(const CommandLine &command_line)
{
  std::vector<std::string> overrides;
  if (command_line.backend)
    overrides.push_back("Solver/Backend=" + *command_line.backend);
  if (command_line.threads)
    overrides.push_back("Solver/Threads=" + std::to_string(*command_line.threads));
  if (command_line.output)
    overrides.push_back("Output/Directory=" + *command_line.output);
  if (command_line.refinements)
    overrides.push_back("Study/Cycles=" + std::to_string(*command_line.refinements));
  overrides.insert(overrides.end(), command_line.set.begin(), command_line.set.end());
  return overrides;
}
} // namespace femgpu
