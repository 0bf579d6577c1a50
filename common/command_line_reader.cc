#include "common/command_line_reader.h"

#include "common/spelling.h"
#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/base/text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include <boost/algorithm/string/join.hpp>

namespace femgpu
{
const char *const exit_code_help =
    "Exit codes:\n"
    "  0  done\n"
    "  1  usage or parameter error\n"
    "  2  input file or mesh missing or damaged\n"
    "  3  solver did not converge, or fluxes or forces do not balance\n"
    "  4  device or memory error\n"
    "  5  output could not be written\n";

namespace
{
/// CLI11's help without the "..." after options that may be given only once.
class HelpFormatter : public CLI::Formatter
{
public:
  explicit HelpFormatter(std::string usage) : usage(std::move(usage))
  {
    column_width(34);
  }

  std::string make_usage(const CLI::App *, std::string name) const override
  {
    return "Usage: " + name + " " + usage + "\n";
  }

  std::string make_option_opts(const CLI::Option *option) const override
  {
    return option->get_type_name().empty() ? "" : " " + option->get_type_name();
  }

private:
  std::string usage;
};

std::string suggestion(const std::string &word, const std::vector<std::string> &choices)
{
  const std::string nearest_name = nearest(word, choices);
  return nearest_name.empty() ? "" : "; did you mean '" + nearest_name + "'?";
}
} // namespace

CommandLineReader::CommandLineReader(const std::string &program, const std::string &usage,
                                     const std::string &description, const std::string &footer)
    : program(program), app(std::make_unique<CLI::App>(description, program))
{
  app->set_help_flag("-h,--help", "Print this text");
  app->footer(footer);
  app->allow_extras();
  app->formatter(std::make_shared<HelpFormatter>(usage));
}

CommandLineReader::~CommandLineReader() = default;

void CommandLineReader::positional(const std::string &name, const std::string &meaning)
{
  app->add_option(name, option_values[name], meaning)->type_name("");
}

void CommandLineReader::option(const std::string &name, const std::string &type,
                               const std::string &meaning)
{
  app->add_option(name, option_values[name], meaning)->type_name(type)->allow_extra_args(false);
}

void CommandLineReader::add_single_option(const std::string &name, const std::string &type,
                                          const std::string &meaning, const Setter &read)
{
  option(name, type, meaning);
  single_options.emplace_back(name, read);
}

void CommandLineReader::choice(const std::string &name, const std::vector<std::string> &choices,
                               const std::string &meaning, std::string &value)
{
  add_single_option(
      name, boost::algorithm::join(choices, "|"), meaning, [=, &value](const std::string &text) {
        value = text;
        if (std::find(choices.begin(), choices.end(), text) != choices.end())
          return;
        std::string names;
        for (std::size_t i = 0; i < choices.size(); ++i)
          names += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
        fail(name + " " + text + ": choose " + names + suggestion(text, choices));
      });
}

void CommandLineReader::backend(std::string &value)
{
  const std::vector<std::string> names = {"auto", "host", "cuda"};
  add_single_option(
      "--backend", "auto|host|cuda|cuda:K", "Device of the solver; K is a device number",
      [=, &value](const std::string &text) {
        value = text;
        const bool is_device =
            text.rfind("cuda:", 0) == 0 && is_digits(text.substr(5)) && text.size() <= 9;
        if (!is_device && std::find(names.begin(), names.end(), text) == names.end())
          fail("--backend " + text +
               " is not a backend; choose auto, host, cuda or cuda:K with a device number K" +
               suggestion(text, names));
      });
}

void CommandLineReader::flag(const std::string &name, bool &value, const std::string &meaning)
{
  app->add_flag(name, value, meaning);
}

std::string CommandLineReader::parse(int argc, const char *const *argv)
{
  try {
    app->parse(argc, argv);
  }
  catch (const CLI::CallForHelp &) {
    return app->help();
  }
  catch (const CLI::ArgumentMismatch &error) {
    const std::string text = error.what(); // "--output: 1 required DIR missing"
    fail(text.substr(0, text.find(':')) + " has no value; add one");
  }
  catch (const CLI::ParseError &error) {
    fail(error.what());
  }
  reject_unknown();
  for (const auto &[name, read] : single_options) {
    const std::vector<std::string> &texts = values(name);
    if (texts.size() > 1)
      fail(name + " is given twice, with '" + texts[0] + "' and '" + texts[1] +
           "'; keep one of them");
    if (texts.size() == 1 && texts[0].empty())
      fail(name + " has an empty value; give one, or remove the option");
    if (texts.size() == 1)
      read(texts[0]);
  }
  return {};
}

void CommandLineReader::fail(const std::string &message) const
{
  throw ParameterError("command line: " + message + "; '" + program +
                       " --help' shows every option");
}

/// Reports the first unknown option and the nearest valid one.
void CommandLineReader::reject_unknown() const
{
  std::vector<std::string> unknown = app->remaining();
  unknown.erase(std::remove(unknown.begin(), unknown.end(), "--"), unknown.end());
  if (unknown.empty())
    return;
  const std::string word = unknown.front().substr(0, unknown.front().find('='));
  std::vector<std::string> names{"--help"};
  for (const CLI::Option *option : app->get_options())
    if (!option->get_lnames().empty())
      names.push_back("--" + option->get_lnames().front());
  fail("unknown option '" + word + "'" + suggestion(word, names));
}

int CommandLineReader::parse_positive(const std::string &text, const std::string &name,
                                      const int max_value) const
{
  constexpr std::size_t max_digits = 9; // fits into int
  const int number = is_digits(text) && text.size() <= max_digits ? std::stoi(text) : 0;
  if (number == 0 || number > max_value)
    fail(name + " " + text + ": give an integer from 1 to " + std::to_string(max_value));
  return number;
}

double CommandLineReader::parse_tolerance(const std::string &text, const std::string &name) const
{
  const auto number = finite_number(text);
  if (!number || *number < 0.)
    fail(name + " " + text + ": give a number that is not negative, for example 1e-8");
  return *number;
}

std::size_t CommandLineReader::memory(const std::string &text, const std::string &name) const
{
  try {
    return parse_memory_size(text);
  }
  catch (const ParameterError &error) {
    fail(name + ": " + error.what());
  }
}
} // namespace femgpu
