#include "common/console.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

namespace femgpu
{
namespace
{
/// Does a person watch standard output? Open MPI gives its ranks a pseudo-terminal whatever mpirun
/// itself writes to; there, what counts is the standard output of mpirun.
bool is_watched()
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

Console::Console(std::string program, const bool prints, const Verbosity verbosity)
    : program(std::move(program)), prints(prints), verbosity(verbosity),
      is_live(prints && verbosity != Verbosity::quiet && is_watched())
{}

Console::~Console()
{
  clear_line();
}

void Console::clear_line()
{
  if (line_is_used)
    std::cout << "\r\033[K" << std::flush;
  line_is_used = false;
}

void Console::show(const std::string &text)
{
  if (!is_live)
    return;
  constexpr std::size_t width = 79; // a longer line would wrap, and could not be taken back
  clear_line();
  std::cout << text.substr(0, width) << std::flush;
  line_is_used = true;
}

void Console::print(const std::string &line)
{
  if (!prints || verbosity == Verbosity::quiet)
    return;
  clear_line();
  std::cout << line << std::endl;
}

void Console::detail(const std::string &line)
{
  if (is_verbose())
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
  if (said.insert(text).second)
    error("warning: " + text);
}

std::vector<std::string> Console::take_warnings()
{
  return std::exchange(warnings, {});
}

void Console::begin_phase(const std::string &new_phase)
{
  phase = new_phase;
  show("  " + phase + " ...");
}

void Console::progress(const std::string &text)
{
  show("  " + phase + ": " + text);
}
} // namespace femgpu
