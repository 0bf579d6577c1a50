#ifndef femgpu_common_command_line_reader_h
#define femgpu_common_command_line_reader_h

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace CLI
{
class App;
}

namespace femgpu
{
/// The section of `--help` that explains the exit codes. All programs use the same codes.
extern const char *const exit_code_help;

/**
 * Parses a command line. Each option is declared with a name and the variable that it sets; parse()
 * fills these variables. Every error is a ParameterError that begins with "command line:".
 */
class CommandLineReader
{
public:
  /**
   * @param usage the usage line after the program's name: "FILE.prm [OPTIONS]"
   * @param footer the text of `--help` below the options
   */
  CommandLineReader(const std::string &program, const std::string &usage,
                    const std::string &description, const std::string &footer);
  ~CommandLineReader();
  CommandLineReader(const CommandLineReader &) = delete;
  CommandLineReader &operator=(const CommandLineReader &) = delete;

  /// @name Declarations, in the order of the help.
  ///@{
  void positional(const std::string &name, const std::string &meaning);
  /// Declares an option that may be repeated; values() returns all of its values.
  void option(const std::string &name, const std::string &type, const std::string &meaning);
  /// Declares an option that may be given at most once. Without it, @p value is left unchanged. An
  /// integer must be positive and have at most nine digits; a double must be finite and
  /// nonnegative. A std::size_t is a number of bytes of memory, parsed by parse_memory_size().
  template <class Value>
  void option(const std::string &name, const std::string &type, const std::string &meaning,
              Value &value)
  {
    add_single_option(name, type, meaning, [this, name, &value](const std::string &text) {
      if constexpr (std::is_constructible_v<Value, std::string>)
        value = text;
      else if constexpr (std::is_same_v<Value, double> ||
                         std::is_same_v<Value, std::optional<double>>)
        value = parse_tolerance(text, name);
      else if constexpr (std::is_same_v<Value, std::size_t>)
        value = memory(text, name);
      else
        value = parse_positive(text, name);
    });
  }
  /// Declares an option whose value is one of @p choices.
  void choice(const std::string &name, const std::vector<std::string> &choices,
              const std::string &meaning, std::string &value);
  /// Declares the option --backend: auto, host, cuda or cuda:K.
  void backend(std::string &value);
  void flag(const std::string &name, bool &value, const std::string &meaning);
  ///@}

  /// Parses the command line and sets the variables of all options.
  /// @return the help text if --help was given, otherwise an empty string
  /// @throws ParameterError for an invalid command line; its message suggests the nearest option
  std::string parse(int argc, const char *const *argv);

  /// @throws ParameterError "command line: MESSAGE; 'PROGRAM --help' shows every option"
  [[noreturn]] void fail(const std::string &message) const;

  /// Returns the values given to an option, in the order of the command line.
  const std::vector<std::string> &values(const std::string &name) const
  {
    return option_values.at(name);
  }
  bool has(const std::string &name) const
  {
    return !values(name).empty();
  }

  /// Converts @p text, the value of option @p name, to an integer from 1 to @p max_value.
  int parse_positive(const std::string &text, const std::string &name,
                     int max_value = 999999999) const;

private:
  using Setter = std::function<void(const std::string &text)>;
  void add_single_option(const std::string &name, const std::string &type,
                         const std::string &meaning, const Setter &read);
  double parse_tolerance(const std::string &text, const std::string &name) const;
  std::size_t memory(const std::string &text, const std::string &name) const;
  void reject_unknown() const;

  std::string program;
  std::unique_ptr<CLI::App> app;
  std::map<std::string, std::vector<std::string>> option_values; ///< values by option name
  std::vector<std::pair<std::string, Setter>> single_options;    ///< options that may be given once
};
} // namespace femgpu

#endif
