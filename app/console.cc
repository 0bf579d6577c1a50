#include "app/console.h"

#include <unistd.h>

#include <iostream>

namespace femgpu
{
Console::Console(const bool prints, const Verbosity verbosity)
    : prints(prints), verbosity(verbosity),
      is_live(prints && verbosity != Verbosity::quiet && isatty(STDOUT_FILENO) != 0)
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

void Console::warn(const std::string &line)
{
  if (!prints)
    return;
  clear_line();
  std::cerr << line << std::endl;
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
