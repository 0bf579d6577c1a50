#ifndef femgpu_common_console_h
#define femgpu_common_console_h

#include <set>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * What a person reads while the program runs. Only one rank prints. On a terminal a last line shows
 * what is under way, and goes when something is printed.
 */
class Console
{
public:
  enum class Verbosity
  {
    quiet,
    normal,
    verbose
  };

  /// @param program its name, with which errors and warnings begin
  Console(std::string program, bool prints, Verbosity verbosity);
  ~Console();
  Console(const Console &) = delete;
  Console &operator=(const Console &) = delete;

  /// A line for everybody but --quiet.
  void print(const std::string &line);
  /// A line for --verbose.
  void detail(const std::string &line);
  /// What ends the run, or its result: on standard error, for everybody.
  void error(const std::string &text);
  /// What may make the results wrong: on standard error, for everybody. The same text is said once
  /// only, and kept for take_warnings() on every rank.
  void warn(const std::string &text);
  /// The warnings since the last call, each once.
  std::vector<std::string> take_warnings();

  /// The phase that begins: shown on a terminal only.
  void begin_phase(const std::string &phase);
  /// How the phase goes on.
  void progress(const std::string &text);

  /// Takes the line of what is under way away, so that something else may print.
  void clear_line();

  /// Does anybody see progress()?
  bool shows_progress() const
  {
    return is_live;
  }

  bool is_verbose() const
  {
    return prints && verbosity == Verbosity::verbose;
  }

private:
  void show(const std::string &text);

  std::string program;
  bool prints;
  Verbosity verbosity;
  bool is_live;
  bool line_is_used = false;
  std::string phase;
  std::vector<std::string> warnings;
  std::set<std::string> said; ///< warnings that have been printed
};
} // namespace femgpu

#endif
