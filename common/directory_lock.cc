#include "common/directory_lock.h"

#include "common/atomic_file.h"
#include "linalg/base/error.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace femgpu
{
namespace
{
/// The run that a lock file names. Strings are empty if the file is incomplete.
struct Holder
{
  std::string host, boot, process, start;

  std::string name() const
  {
    return "process " + process + " on host " + host + ", started " + start;
  }
};

/// Returns the boot id of the kernel, which all containers of a host share.
std::string boot_id()
{
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id.empty() ? "unknown" : id;
}

std::string now()
{
  const std::time_t seconds = std::time(nullptr);
  std::tm utc = {};
  std::array<char, 32> text = {};
  ::gmtime_r(&seconds, &utc);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text.data();
}

/// Reads the lines "KEY VALUE" of a lock file.
Holder read_holder(const std::filesystem::path &file)
{
  std::map<std::string, std::string> values;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (const std::size_t blank = line.find(' '); blank != std::string::npos)
      values[line.substr(0, blank)] = line.substr(blank + 1);
  return {values["host"], values["boot"], values["process"], values["started"]};
}

bool is_alive(const std::string &process)
{
  std::istringstream text(process);
  pid_t pid = 0;
  return text >> pid && pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

/// Has the run @p holder certainly ended? The caller has checked that no other process holds a
/// flock() on the file. @param system_locks does the file system support flock()?
bool has_ended(const Holder &holder, const bool system_locks)
{
  if (holder.start.empty()) // it ended before sign(), so it wrote no results
    return true;
  if (holder.boot == boot_id())
    return system_locks || !is_alive(holder.process);
  return holder.host == host_name(); // the host has been rebooted since
}

/// Do @p descriptor and @p file refer to the same inode?
bool is_same(const int descriptor, const std::filesystem::path &file)
{
  struct stat a = {}, b = {};
  return ::fstat(descriptor, &a) == 0 && ::stat(file.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

[[noreturn]] void refuse(const std::filesystem::path &directory, const std::string &holder)
{
  throw OutputError("'" + directory.string() + "' is in use by another run, " + holder +
                    ". Wait until it ends, or choose another directory with --output.");
}
} // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path &directory)
    : directory(directory), file(directory / ".femgpu.lock")
{
  try {
    while (!open()) // a run that just ended removed the opened file
      ::close(descriptor);
    take();
  }
  catch (...) {
    if (descriptor >= 0)
      ::close(descriptor);
    throw;
  }
}

DirectoryLock::~DirectoryLock()
{
  if (is_same(descriptor, file))
    ::unlink(file.c_str());
  ::close(descriptor);
}

/// Opens and locks the file; returns false if it has been removed from the directory meanwhile.
bool DirectoryLock::open()
{
  descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw OutputError("'" + file.string() + "' could not be written: " + std::strerror(errno) +
                      "; check the permissions or choose another directory with --output");
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return is_same(descriptor, file);
  if (errno == EWOULDBLOCK) {
    const Holder holder = read_holder(file);
    refuse(directory, holder.start.empty() ? "which has just started" : holder.name());
  }
  return true; // no flock() on this file system: take() relies on the content
}

void DirectoryLock::take()
{
  const bool system_locks = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const Holder holder = read_holder(file);
  if (!has_ended(holder, system_locks)) {
    if (holder.boot == boot_id())
      refuse(directory, holder.name());
    throw OutputError(
        "'" + directory.string() + "' belongs to another run, " + holder.name() +
        ", which is invisible from host " + host_name() + ". If it has ended, remove '" +
        file.string() +
        "'; otherwise wait until it ends, or choose another directory with --output.");
  }
  sign();
}

void DirectoryLock::sign()
{
  registered = std::make_unique<PartialFile>(file.string());
  const std::string text = "host " + host_name() + "\nboot " + boot_id() + "\nprocess " +
                           std::to_string(::getpid()) + "\nstarted " + now() + "\n";
  if (::ftruncate(descriptor, 0) == 0 &&
      ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()))
    return;
  const int reason = errno;
  ::unlink(file.c_str());
  throw OutputError("'" + file.string() + "' could not be written: " + std::strerror(reason) +
                    "; free some space or choose another directory with --output");
}
} // namespace femgpu
