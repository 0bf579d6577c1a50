#ifndef femgpu_common_atomic_file_h
#define femgpu_common_atomic_file_h

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

namespace femgpu
{
class PartialFile;

/// The name of this machine, or container.
std::string host_name();

/// Where @p file is written before it gets its name: FILE.HOST.PROCESS.partial next to it, which no
/// other process writes to.
std::string partial_name(const std::string &file);

/**
 * A file that appears under its name only when it is complete: everything is written to its
 * partial_name() in the same directory, and commit() gives it its name in one step. A run that is
 * killed leaves the file of the run before (or none), never half a file.
 */
class AtomicFile
{
public:
  /**
   * Begin to write. A symbolic link is followed.
   * @throws OutputError if the partial file cannot be created, or if NAME exists and is no regular
   *         file
   */
  explicit AtomicFile(const std::filesystem::path &name);

  /// Without commit() the partial file is removed and NAME stays as it was.
  ~AtomicFile();

  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  /// Where to write, in order: positions cannot be changed. Errors are kept for commit().
  std::ostream &stream();

  /**
   * Write out what is buffered and give the file its name.
   * A second call does nothing.
   * @throws OutputError if anything since the beginning failed, naming the file and the system's
   *         reason; the partial file is removed
   */
  void commit();

private:
  class Buffer;

  std::filesystem::path target;
  std::filesystem::path partial;
  std::unique_ptr<Buffer> buffer;
  std::unique_ptr<PartialFile> registered; ///< only while the partial file is there
  std::ostream out;
  bool committed = false;
};

/// Writes all of a file at once, as above. @throws OutputError
void write_file(const std::filesystem::path &name, const std::string &text);

/**
 * From now on SIGINT, SIGTERM and SIGHUP remove the partial files of this process and say so before
 * they end it, with the status that a shell expects of the signal; and signal_to_end_silently does
 * what it says.
 */
void remove_partial_files_on_signals();

/// A signal that another process of the same run sends by sigqueue(), with the exit code as value.
constexpr int signal_to_end_silently = SIGUSR1;

/// Removes the partial files of this process, as its end does. Safe in a signal's handler.
void remove_partial_files();

/// A file that an ending signal removes while this lives, as AtomicFile's own partial files.
class PartialFile
{
public:
  explicit PartialFile(const std::string &name);
  ~PartialFile();
  PartialFile(const PartialFile &) = delete;
  PartialFile &operator=(const PartialFile &) = delete;

private:
  std::size_t slot;
};

/**
 * Make @p directory, with those above it, if it does not exist, and try that files can be created
 * in it.
 * @throws OutputError if that is not so
 */
void create_output_directory(const std::filesystem::path &directory);
} // namespace femgpu

#endif
