#include "common/atomic_file.h"

#include "linalg/base/error.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <streambuf>
#include <string>
#include <unistd.h>
#include <vector>

namespace femgpu
{
namespace
{
std::string hint_for(int reason)
{
  switch (reason) {
  case ENOSPC:
  case EDQUOT:
    return "free some space or choose another directory";
  case EFBIG:
    return "raise the limit of file sizes (ulimit -f) or choose a file system for larger files";
  case EACCES:
  case EPERM:
  case EROFS:
    return "check the permissions or choose another directory";
  case ENOENT:
  case ENOTDIR:
    return "check that its directory exists";
  default:
    return "choose another directory";
  }
}

[[noreturn]] void output_error(const std::filesystem::path &path, const std::string &what,
                               int reason)
{
  throw OutputError("'" + path.string() + "' " + what + ": " + std::strerror(reason) + "; " +
                    hint_for(reason));
}
} // namespace

std::string host_name()
{
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data()
                                                                             : "localhost";
}

std::string partial_name(const std::string &file)
{
  return file + '.' + host_name() + '.' + std::to_string(::getpid()) + ".partial";
}

/// A stream buffer that writes to a file descriptor and stores errno of the first call that fails.
class AtomicFile::Buffer : public std::streambuf
{
public:
  explicit Buffer(const std::filesystem::path &path)
      : descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
        error_number(descriptor < 0 ? errno : 0)
  {
    setp(block.data(), block.data() + block.size());
  }

  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  ~Buffer() override
  {
    if (descriptor >= 0)
      ::close(descriptor);
  }

  /// Returns errno of the first call that failed; 0 if none failed.
  int error() const
  {
    return error_number;
  }

  /// Flushes the buffer and closes the file; returns error(). Does not call fsync(), which takes
  /// seconds for large files and is not needed to protect against a killed run.
  int finish()
  {
    write_block();
    if (descriptor >= 0 && ::close(descriptor) != 0 && error_number == 0)
      error_number = errno;
    descriptor = -1;
    return error_number;
  }

protected:
  int_type overflow(int_type c) override
  {
    if (!write_block())
      return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      *pptr() = traits_type::to_char_type(c);
      pbump(1);
    }
    return traits_type::not_eof(c);
  }

  std::streamsize xsputn(const char *data, std::streamsize count) override
  {
    if (count <= 0 || (count > epptr() - pptr() && !write_block()))
      return 0;
    if (count > epptr() - pptr()) // the data do not fit even into the empty block
      return write_all(data, static_cast<std::size_t>(count)) ? count : 0;
    std::memcpy(pptr(), data, static_cast<std::size_t>(count));
    pbump(static_cast<int>(count));
    return count;
  }

  int sync() override
  {
    return write_block() ? 0 : -1;
  }

private:
  bool write_block()
  {
    const bool good = write_all(pbase(), static_cast<std::size_t>(pptr() - pbase()));
    setp(block.data(), block.data() + block.size());
    return good;
  }

  bool write_all(const char *data, std::size_t count)
  {
    if (descriptor < 0 && error_number == 0)
      error_number = EBADF; // written to after commit()
    while (error_number == 0 && count > 0) {
      const ssize_t written = ::write(descriptor, data, count);
      if (written >= 0) {
        data += written;
        count -= static_cast<std::size_t>(written);
      }
      else if (errno != EINTR)
        error_number = errno;
    }
    return error_number == 0;
  }

  int descriptor;
  int error_number;
  std::vector<char> block = std::vector<char>(1u << 16u);
};

namespace
{
// A signal handler must not allocate or lock, so the names are stored in a fixed table. Files that
// do not fit, because of a long name or a full table, are left behind by a signal.
constexpr std::size_t n_slots = 64, max_name_length = 4096;
char partial_names[n_slots][max_name_length];
std::atomic<bool> slot_is_taken[n_slots], slot_is_ready[n_slots];

void write_to_stderr(const char *text)
{
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0)
    return; // standard error is closed
}

extern "C" void terminate_by_signal(const int signal)
{
  remove_partial_files();
  write_to_stderr(signal == SIGINT ? "femgpu: interrupted" : "femgpu: terminated by a signal");
  write_to_stderr("; result files that exist are complete.\n");
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

extern "C" void terminate_silently(const int signal, siginfo_t *const info, void * /* context */)
{
  if (info->si_code != SI_QUEUE) // not sent by a rank of this run
    return terminate_by_signal(signal);
  remove_partial_files();
  ::_exit(info->si_value.sival_int);
}
} // namespace

void remove_partial_files()
{
  for (std::size_t i = 0; i < n_slots; ++i)
    if (slot_is_ready[i])
      ::unlink(partial_names[i]);
}

void remove_partial_files_on_signals()
{
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) // as nohup does
      continue;
    struct sigaction action = {};
    action.sa_handler = terminate_by_signal;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
  struct sigaction action = {};
  action.sa_sigaction = terminate_silently;
  action.sa_flags = SA_SIGINFO;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(silent_termination_signal, &action, nullptr);
}

PartialFile::PartialFile(const std::string &name) : slot(n_slots)
{
  if (name.size() >= max_name_length)
    return;
  for (slot = 0; slot < n_slots && slot_is_taken[slot].exchange(true);)
    ++slot;
  if (slot == n_slots)
    return;
  name.copy(partial_names[slot], name.size());
  partial_names[slot][name.size()] = '\0';
  slot_is_ready[slot] = true;
}

PartialFile::~PartialFile()
{
  if (slot == n_slots)
    return;
  slot_is_ready[slot] = false;
  slot_is_taken[slot] = false;
}

AtomicFile::AtomicFile(const std::filesystem::path &name) : target(name), out(nullptr)
{
  std::error_code error;
  if (std::filesystem::is_symlink(name, error))
    target = std::filesystem::weakly_canonical(name, error);
  if (target.filename().empty())
    throw OutputError("'" + name.string() + "' is not a file name; give one");
  if (std::filesystem::exists(target, error) && !std::filesystem::is_regular_file(target, error))
    throw OutputError("'" + name.string() +
                      "' exists and is not a regular file; remove it or choose another name");
  partial = partial_name(target.string());
  registered = std::make_unique<PartialFile>(partial.string());
  buffer = std::make_unique<Buffer>(partial);
  if (buffer->error() != 0)
    output_error(target, "could not be written (creating '" + partial.filename().string() + "')",
                 buffer->error());
  out.rdbuf(buffer.get());
}

AtomicFile::~AtomicFile()
{
  if (!committed)
    ::unlink(partial.c_str());
}

std::ostream &AtomicFile::stream()
{
  return out;
}

void AtomicFile::commit()
{
  if (committed)
    return;
  const bool stream_good = !out.fail();
  int reason = buffer->finish();
  if (reason == 0 && !stream_good)
    reason = EIO;
  if (reason == 0 && ::rename(partial.c_str(), target.c_str()) != 0)
    reason = errno;
  if (reason != 0) {
    out.setstate(std::ios::badbit);
    ::unlink(partial.c_str());
    output_error(target, "could not be written", reason);
  }
  registered.reset();
  committed = true;
}

void write_file(const std::filesystem::path &name, const std::string &text)
{
  AtomicFile file(name);
  file.stream() << text;
  file.commit();
}

void create_output_directory(const std::filesystem::path &directory)
{
  if (directory.empty())
    throw OutputError("the name of the output directory is empty; give one with --output");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const int reason = error.value();
  if (!std::filesystem::is_directory(directory, error)) {
    if (std::filesystem::exists(directory, error))
      throw OutputError("'" + directory.string() +
                        "' is a file, not a directory; remove it or choose another directory with "
                        "--output");
    output_error(directory, "could not be created", reason);
  }
  // Permission bits are not reliable: root ignores them, and the file system may be read-only.
  std::string probe = (directory / "femgpu-probe-XXXXXX").string();
  const int descriptor = ::mkstemp(&probe[0]);
  if (descriptor < 0)
    output_error(directory, "is a directory without permission to create files", errno);
  ::close(descriptor);
  ::unlink(probe.c_str());
}
} // namespace femgpu
