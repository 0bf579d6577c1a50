#ifndef femgpu_common_console_h
#define femgpu_common_console_h

#include <string>

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

  Console(bool prints, Verbosity verbosity);
  ~Console();
  Console(const Console &) = delete;
  Console &operator=(const Console &) = delete;

  /// A line for everybody but --quiet.
  void print(const std::string &line);
  /// A line for --verbose.
  void detail(const std::string &line);
  /// An error or warning: on standard error, for everybody.
  void warn(const std::string &line);

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

  bool prints;
  Verbosity verbosity;
  bool is_live;
  bool line_is_used = false;
  std::string phase;
};
} // namespace femgpu

#endif
