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
struct LockOwner
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
LockOwner read_lock_owner(const std::filesystem::path &file)
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

/// Has the run @p owner certainly ended? The caller has checked that no other process holds a
/// flock() on the file. @param supports_flock does the file system support flock()?
bool is_stale(const LockOwner &owner, const bool supports_flock)
{
  if (owner.start.empty()) // the run ended before write_owner(), so it wrote no results
    return true;
  if (owner.boot == boot_id())
    return supports_flock || !is_alive(owner.process);
  return owner.host == host_name(); // this host has been rebooted since the start of the run
}

/// Do @p descriptor and @p file refer to the same inode?
bool is_same_file(const int descriptor, const std::filesystem::path &file)
{
  struct stat a = {}, b = {};
  return ::fstat(descriptor, &a) == 0 && ::stat(file.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

[[noreturn]] void throw_in_use(const std::filesystem::path &directory, const std::string &owner)
{
  throw OutputError("'" + directory.string() + "' is in use by another run, " + owner +
                    ". Wait until it ends, or choose another directory with --output.");
}
} // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path &directory)
    : directory(directory), file(directory / ".femgpu.lock")
{
  try {
    while (!open()) // another run has ended and removed the file after this one opened it
      ::close(descriptor);
    acquire();
  }
  catch (...) {
    if (descriptor >= 0)
      ::close(descriptor);
    throw;
  }
}

DirectoryLock::~DirectoryLock()
{
  if (is_same_file(descriptor, file))
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
    return is_same_file(descriptor, file);
  if (errno == EWOULDBLOCK) {
    const LockOwner owner = read_lock_owner(file);
    throw_in_use(directory, owner.start.empty() ? "which has just started" : owner.name());
  }
  return true; // the file system lacks flock(): acquire() relies on the content of the file
}

void DirectoryLock::acquire()
{
  const bool supports_flock = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const LockOwner owner = read_lock_owner(file);
  if (!is_stale(owner, supports_flock)) {
    if (owner.boot == boot_id())
      throw_in_use(directory, owner.name());
    throw OutputError(
        "'" + directory.string() + "' belongs to another run, " + owner.name() +
        ", which is invisible from host " + host_name() + ". If it has ended, remove '" +
        file.string() +
        "'; otherwise wait until it ends, or choose another directory with --output.");
  }
  write_owner();
}

void DirectoryLock::write_owner()
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
