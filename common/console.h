#ifndef femgpu_common_console_h
#define femgpu_common_console_h

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace femgpu
{
/**
 * The console output of a run. Only one rank prints. On a terminal, a status line shows the current
 * phase; this line is erased before anything else is printed. Without a terminal, the phase is
 * printed to standard error after each interval without other output.
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

  /// @param program name with which errors and warnings begin
  /// @param prints whether this rank prints
  /// @param interval without a terminal, the phase is printed after this time without output
  Console(std::string program, bool prints, Verbosity verbosity,
          std::chrono::milliseconds interval = std::chrono::seconds(10));
  ~Console();
  Console(const Console &) = delete;
  Console &operator=(const Console &) = delete;

  /// Prints a line unless --quiet is set.
  void print(const std::string &line);
  /// Prints a line if --verbose is set.
  void detail(const std::string &line);
  /// Prints an error to standard error, at every verbosity.
  void error(const std::string &text);
  /// Prints a warning that results may be wrong to standard error, at every verbosity. A repeated
  /// text is printed only once. Every rank stores the warning for take_warnings().
  void warn(const std::string &text);
  /// Returns the distinct warnings since the last take_warnings().
  const std::vector<std::string> &current_warnings() const
  {
    return warnings;
  }
  /// Returns current_warnings() and clears them.
  std::vector<std::string> take_warnings();

  /// Shows that @p phase begins.
  void begin_phase(const std::string &phase);
  /// Shows the progress of the current phase.
  void progress(const std::string &text);

  /// Erases the status line, so that other code can print.
  void clear_line();

  /// Does progress() have a visible effect?
  bool shows_progress() const
  {
    return prints && verbosity != Verbosity::quiet;
  }

private:
  using Clock = std::chrono::steady_clock;

  void show_status(const std::string &text);
  void record_output_time();
  void start_reporter();
  void run_reporter();

  std::string program;
  bool prints;
  Verbosity verbosity;
  std::chrono::milliseconds interval;
  bool has_status_line;
  bool status_is_shown = false;
  std::vector<std::string> warnings;
  std::set<std::string> printed_warnings; ///< warnings that have been printed

  std::mutex mutex; ///< protects the data that the reporter thread reads
  std::condition_variable change;
  bool is_ending = false;
  std::string phase, activity; ///< activity: the phase and its progress
  Clock::time_point phase_begin, last_output;
  std::thread reporter; ///< prints the phase at intervals; used only without a terminal
};
} // namespace femgpu

#endif
