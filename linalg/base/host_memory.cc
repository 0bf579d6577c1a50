#include "linalg/base/host_memory.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace femgpu
{
namespace
{
constexpr double unlimited = std::numeric_limits<double>::infinity();

double physical_memory()
{
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                       static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  return bytes > 0. ? bytes : unlimited;
}

/// Returns the lowest limit in the files called @p name in the directory @p root/@p group and in
/// its parent directories up to @p root; infinity if there is no limit.
double min_limit_in(const std::filesystem::path &root, const std::string &group,
                    const char *const name)
{
  double min_limit = unlimited;
  std::filesystem::path directory = root / std::filesystem::path(group).relative_path();
  for (;; directory = directory.parent_path()) {
    std::ifstream file(directory / name);
    double bytes = 0.;
    if (file >> bytes) // fails for "max" (no limit)
      min_limit = std::min(min_limit, bytes);
    if (directory == root || !directory.has_relative_path())
      return min_limit;
  }
}

/// Returns the limit that a container or a batch system imposes by cgroups of version 1 or 2.
double control_group_memory()
{
  double min_limit = unlimited;
  std::ifstream groups("/proc/self/cgroup"); // lines "number:controllers:/group"
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())
      min_limit = std::min(min_limit, min_limit_in("/sys/fs/cgroup", group, "memory.max"));
    else if (controllers == "memory")
      min_limit = std::min(min_limit,
                           min_limit_in("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
  }
  return min_limit;
}

double address_space()
{
  rlimit limit = {};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? static_cast<double>(limit.rlim_cur)
             : unlimited;
}
} // namespace

std::string gigabytes(const double bytes)
{
  std::ostringstream text;
  text.precision(3);
  text << 1e-9 * bytes << " GB";
  return text.str();
}

std::size_t parse_memory_size(const std::string &text)
{
  if (text == "all")
    return 0;
  constexpr std::pair<const char *, double> units[] = {{"B", 1.},
                                                       {"kB", 1e3},
                                                       {"MB", 1e6},
                                                       {"GB", 1e9},
                                                       {"TB", 1e12},
                                                       {"KiB", 1024.},
                                                       {"MiB", 1024. * 1024.},
                                                       {"GiB", 1024. * 1024. * 1024.}};
  std::istringstream stream(text);
  double number = 0.;
  std::string unit, rest;
  if (stream >> number >> unit && !(stream >> rest))
    for (const auto &[name, factor] : units)
      if (unit == name && number * factor >= 1. && number * factor < 1e18)
        return static_cast<std::size_t>(number * factor);
  throw ParameterError("'" + text +
                       "' is not a memory size. Use for example 2GB, 512MB or 1.5GiB, or all.");
}

double free_address_space()
{
  double pages = 0.;
  std::ifstream("/proc/self/statm") >> pages;
  return address_space() - pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

HostMemory host_memory(const unsigned int n_processes)
{
  HostMemory memory = {physical_memory(), ""};
  memory.bound = "this machine has " + gigabytes(memory.bytes);
  if (const double bytes = control_group_memory(); bytes < memory.bytes)
    memory = {bytes, "the control group of this process (container or batch job) is limited to " +
                         gigabytes(bytes)};
  if (const double bytes = address_space(); bytes * n_processes < memory.bytes)
    memory = {bytes * n_processes, "the limit 'ulimit -v' allows each process " + gigabytes(bytes) +
                                       " of address space"};
  return memory;
}
} // namespace femgpu
