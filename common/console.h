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
 * What a person reads while the program runs. Only one rank prints. On a terminal a last line shows
 * what is under way, and goes when something is printed; elsewhere a line on standard error says it
 * after each interval in which nothing was printed.
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
  Console(std::string program, bool prints, Verbosity verbosity,
          std::chrono::milliseconds interval = std::chrono::seconds(10));
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
  /// The warnings since the last take_warnings(), each once.
  const std::vector<std::string> &current_warnings() const
  {
    return warnings;
  }
  /// Returns and forgets them.
  std::vector<std::string> take_warnings();

  /// The phase that begins.
  void begin_phase(const std::string &phase);
  /// How the phase goes on.
  void progress(const std::string &text);

  /// Takes the line of what is under way away, so that something else may print.
  void clear_line();

  /// Does anybody see progress()?
  bool shows_progress() const
  {
    return prints && verbosity != Verbosity::quiet;
  }

private:
  using Clock = std::chrono::steady_clock;

  void show(const std::string &text);
  void note_output();
  void start_reporter();
  void report_until_end();

  std::string program;
  bool prints;
  Verbosity verbosity;
  std::chrono::milliseconds interval;
  bool is_live;
  bool line_is_used = false;
  std::vector<std::string> warnings;
  std::set<std::string> said; ///< warnings that have been printed

  std::mutex mutex; ///< of all that the reporter reads
  std::condition_variable change;
  bool is_ending = false;
  std::string phase, under_way; ///< the latter is the phase, and how far it is
  Clock::time_point phase_begin, last_output;
  std::thread reporter; ///< only where there is no terminal
};
} // namespace femgpu

#endif
