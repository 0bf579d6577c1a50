#include "common/console.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace femgpu
{
namespace
{
/// Is standard output a terminal? Open MPI always gives its ranks a pseudo-terminal, so under
/// mpirun the standard output of mpirun itself is checked.
bool is_terminal()
{
  if (isatty(STDOUT_FILENO) == 0)
    return false;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr || std::getenv("OMPI_COMMAND") == nullptr)
    return true;
  std::error_code error;
  const auto launcher = std::filesystem::path("/proc") / std::to_string(getppid()) / "fd/1";
  const std::string target = std::filesystem::read_symlink(launcher, error).string();
  return !error && target.rfind("/dev/pts/", 0) == 0;
}
} // namespace

Console::Console(std::string program, const bool prints, const Verbosity verbosity,
                 const std::chrono::milliseconds interval)
    : program(std::move(program)), prints(prints), verbosity(verbosity), interval(interval),
      has_status_line(shows_progress() && is_terminal()), last_output(Clock::now())
{
  if (shows_progress() && !has_status_line)
    start_reporter();
}

Console::~Console()
{
  clear_line();
  if (!reporter.joinable())
    return;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    is_ending = true;
  }
  change.notify_one();
  reporter.join();
}

/// Starts the reporter thread with all signals blocked, so that the main thread handles them. If no
/// thread can be created, the program runs without progress reports.
void Console::start_reporter()
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    reporter = std::thread([this] { run_reporter(); });
  }
  catch (const std::system_error &) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Console::run_reporter()
{
  std::unique_lock<std::mutex> lock(mutex);
  while (!is_ending) {
    const Clock::time_point due = last_output + interval;
    if (Clock::now() < due) {
      change.wait_until(lock, due);
      continue;
    }
    last_output = Clock::now();
    if (activity.empty())
      continue;
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(last_output - phase_begin);
    std::ostringstream line; // written at once, because the main thread prints concurrently
    line << "  " << activity << " (" << seconds.count() << " s)\n";
    std::cerr << line.str() << std::flush;
  }
}

void Console::record_output_time()
{
  const std::lock_guard<std::mutex> lock(mutex);
  last_output = Clock::now();
}

void Console::clear_line()
{
  if (status_is_shown)
    std::cout << "\r\033[K" << std::flush;
  status_is_shown = false;
}

void Console::show_status(const std::string &text)
{
  if (!has_status_line)
    return;
  constexpr std::size_t width = 79; // a longer status line would wrap and could not be erased
  clear_line();
  std::cout << text.substr(0, width) << std::flush;
  status_is_shown = true;
}

void Console::print(const std::string &line)
{
  if (!prints || verbosity == Verbosity::quiet)
    return;
  clear_line();
  record_output_time();
  std::cout << line << std::endl;
}

void Console::detail(const std::string &line)
{
  if (verbosity == Verbosity::verbose)
    print(line);
}

void Console::error(const std::string &text)
{
  if (!prints)
    return;
  clear_line();
  std::cerr << program << ": " << text << std::endl;
}

void Console::warn(const std::string &text)
{
  if (std::find(warnings.begin(), warnings.end(), text) == warnings.end())
    warnings.push_back(text);
  if (printed_warnings.insert(text).second)
    error("warning: " + text);
}

std::vector<std::string> Console::take_warnings()
{
  return std::exchange(warnings, {});
}

void Console::begin_phase(const std::string &new_phase)
{
  {
    const std::lock_guard<std::mutex> lock(mutex);
    phase = activity = new_phase;
    phase_begin = Clock::now();
  }
  show_status("  " + phase + " ...");
}

void Console::progress(const std::string &text)
{
  {
    const std::lock_guard<std::mutex> lock(mutex);
    activity = phase + ": " + text;
  }
  show_status("  " + activity);
}
} // namespace femgpu
