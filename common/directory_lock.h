#ifndef femgpu_common_directory_lock_h
#define femgpu_common_directory_lock_h

#include <filesystem>
#include <memory>

namespace femgpu
{
class PartialFile;

/**
 * An exclusive lock on an output directory, held for the lifetime of this object. The file
 * `.femgpu.lock` names the run that holds the lock and is locked with flock(). The system releases
 * the lock when the process ends for any reason, so a stale file left by a killed run is ignored.
 * If the state of the other run is unknown, because it ran on another host, the user must decide.
 */
class DirectoryLock
{
public:
  /// Acquires the lock without waiting.
  /// @throws OutputError if another run holds the lock (the message names the host, process and
  ///         start time of that run), or if the lock file cannot be created
  explicit DirectoryLock(const std::filesystem::path &directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  bool open();
  void acquire();
  void write_owner();

  std::filesystem::path directory, file;
  int descriptor = -1;
  std::unique_ptr<PartialFile> registered; ///< removes the lock file on a signal
};
} // namespace femgpu

#endif
