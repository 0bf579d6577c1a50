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

/// Returns the host name of this machine or container; "localhost" if it has none.
std::string host_name();

/// Returns the temporary name under which @p file is written: FILE.HOST.PID.partial in the same
/// directory. No other process uses this name.
std::string partial_name(const std::string &file);

/**
 * A file that is replaced atomically. Data are written to a partial file, partial_name(), in the
 * same directory; commit() renames the partial file. If the run is killed before commit(), the
 * previous file is left intact.
 */
class AtomicFile
{
public:
  /**
   * Creates the partial file. If @p name is a symbolic link, its target is replaced.
   * @throws OutputError if the partial file cannot be created, or if @p name exists and is not a
   *         regular file
   */
  explicit AtomicFile(const std::filesystem::path &name);

  /// Removes the partial file unless commit() succeeded; the target is then left unchanged.
  ~AtomicFile();

  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  /// Returns the stream to write to. It is not seekable. commit() reports write errors.
  std::ostream &stream();

  /**
   * Flushes the buffer and renames the partial file to its final name. A second call does nothing.
   * @throws OutputError if this or any earlier operation failed, with the file and the system's
   *         reason; the partial file is removed
   */
  void commit();

private:
  class Buffer;

  std::filesystem::path target;
  std::filesystem::path partial;
  std::unique_ptr<Buffer> buffer;
  std::unique_ptr<PartialFile> registered; ///< set only while the partial file exists
  std::ostream out;
  bool committed = false;
};

/// Replaces the file @p name atomically by one that contains @p text.
/// @throws OutputError if the file cannot be written
void write_file(const std::filesystem::path &name, const std::string &text);

/**
 * Installs handlers for SIGINT, SIGTERM and SIGHUP. They remove the partial files of this process,
 * print a message and terminate the process by the same signal, so that a shell sees the usual exit
 * status. A signal that is already ignored, as under nohup, stays ignored. Also installs the
 * handler of silent_termination_signal.
 */
void remove_partial_files_on_signals();

/// The signal by which a rank terminates the other ranks without a message. It is sent with
/// sigqueue(), with the exit code as its value.
constexpr int silent_termination_signal = SIGUSR1;

/// Removes the partial files of this process. Async-signal-safe.
void remove_partial_files();

/// Registers a file for removal by remove_partial_files(), and so by a terminating signal, for the
/// lifetime of this object. AtomicFile registers its partial file.
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
 * Creates @p directory and its parents if necessary, and creates and removes a test file in it.
 * @throws OutputError if the directory or the file cannot be created
 */
void create_output_directory(const std::filesystem::path &directory);
} // namespace femgpu

#endif
