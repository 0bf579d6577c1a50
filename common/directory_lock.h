#ifndef femgpu_common_directory_lock_h
#define femgpu_common_directory_lock_h

#include <filesystem>
#include <memory>

namespace femgpu
{
class PartialFile;

/**
 * The right of one run to write into a directory, while this lives. The file `.femgpu.lock` in it
 * says which run that is, and is locked: the system gives up the lock of a process that has ended,
 * however that came, so that what a killed run has left stops nobody. Only where nothing can be
 * known of the other run, as it was on another host, the user is asked.
 */
class DirectoryLock
{
public:
  /// @throws OutputError that names host, process and start of the run that writes to @p directory,
  /// or if the file cannot be made
  explicit DirectoryLock(const std::filesystem::path &directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock &) = delete;
  DirectoryLock &operator=(const DirectoryLock &) = delete;

private:
  bool open();
  void take();
  void sign();

  std::filesystem::path directory, file;
  int descriptor = -1;
  std::unique_ptr<PartialFile> registered; ///< so that a signal removes the file
};
} // namespace femgpu

#endif
