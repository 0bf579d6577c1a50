#ifndef femgpu_common_command_line_reader_h
#define femgpu_common_command_line_reader_h

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI
{
class App;
}

namespace femgpu
{
/// What `--help` prints of the exit codes, which are the same for all programs.
extern const char *const exit_code_help;

/**
 * Reads a command line. Options are known by their names as they are declared. One collects all
 * values it is given, so that one which is given twice is an error that names both. Every error is
 * a ParameterError that begins with "command line:".
 */
class CommandLineReader
{
public:
  /**
   * @param usage what stands behind the program's name: "FILE.prm [OPTIONS]"
   * @param footer what `--help` prints below the options
   */
  CommandLineReader(const std::string &program, const std::string &usage,
                    const std::string &description, const std::string &footer);
  ~CommandLineReader();
  CommandLineReader(const CommandLineReader &) = delete;
  CommandLineReader &operator=(const CommandLineReader &) = delete;

  /// @name Declarations, in the order of the help.
  ///@{
  void positional(const std::string &name, const std::string &meaning);
  void option(const std::string &name, const std::string &type, const std::string &meaning);
  /// @param value is filled by parse()
  void flag(const std::string &name, bool &value, const std::string &meaning);
  ///@}

  /// Fills all values. The text to print if help is asked for, else empty. @throws ParameterError,
  /// with the nearest valid name for an unknown option
  std::string parse(int argc, const char *const *argv);

  /// @throws ParameterError "command line: MESSAGE; 'PROGRAM --help' shows every option"
  [[noreturn]] void fail(const std::string &message) const;

  /// All values that were given to an option, in their order.
  const std::vector<std::string> &values(const std::string &name) const
  {
    return given.at(name);
  }
  bool has(const std::string &name) const
  {
    return !values(name).empty();
  }

  /// @name The value of an option that may be given once; nothing if it was not given.
  ///@{
  std::optional<std::string> single(const std::string &name) const;
  /// From 1 to @p most, of at most nine digits.
  std::optional<unsigned> positive_number(const std::string &name, unsigned most = 999999999) const;
  /// Finite, and not negative.
  std::optional<double> tolerance(const std::string &name) const;
  /// Bytes, as bytes_of() reads them.
  std::optional<std::size_t> memory(const std::string &name) const;
  /// auto, host, cuda or cuda:K
  std::optional<std::string> backend(const std::string &name) const;
  /// One of @p choices.
  std::optional<std::string> word(const std::string &name,
                                  const std::vector<std::string> &choices) const;
  ///@}
  /// @p text, which belongs to @p name, as such a number.
  unsigned positive(const std::string &text, const std::string &name,
                    unsigned most = 999999999) const;

private:
  void refuse_unknown() const;

  std::string program;
  std::unique_ptr<CLI::App> app;
  std::map<std::string, std::vector<std::string>> given; ///< by name
};
} // namespace femgpu

#endif
