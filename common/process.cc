#include "common/process.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace femgpu
{
namespace
{
/// The descriptors of a new process: no input, and one file for all output.
class Descriptors
{
public:
  explicit Descriptors(const std::string &output)
  {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  }
  ~Descriptors()
  {
    posix_spawn_file_actions_destroy(&actions);
  }
  Descriptors(const Descriptors &) = delete;
  Descriptors &operator=(const Descriptors &) = delete;

  posix_spawn_file_actions_t actions;
};

/// The attributes of a new process: the default reaction to signals. It stays in femgpu's process
/// group, so that what ends femgpu, such as Ctrl+C, ends it, too.
class Attributes
{
public:
  Attributes()
  {
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
  }
  ~Attributes()
  {
    posix_spawnattr_destroy(&attributes);
  }
  Attributes(const Attributes &) = delete;
  Attributes &operator=(const Attributes &) = delete;

  posix_spawnattr_t attributes;
};
} // namespace

std::string ProcessEnd::description() const
{
  switch (kind) {
  case Kind::not_started:
    return std::string("could not be started: ") + std::strerror(number);
  case Kind::exited:
    return "ended with exit code " + std::to_string(number);
  case Kind::signalled:
    return std::string("crashed: ") + strsignal(number);
  case Kind::timed_out:
    break;
  }
  return "was stopped at its time limit";
}

ProcessEnd run_process(const std::vector<std::string> &words, const std::string &output,
                       const double seconds)
{
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  const Descriptors descriptors(output);
  const Attributes attributes;
  pid_t process = 0;
  // Programs whose results depend on addresses repeat them if addresses are not random. Containers
  // may forbid this.
  const int personality_before = personality(0xffffffff);
  if (personality_before >= 0)
    personality(static_cast<unsigned long>(personality_before) | ADDR_NO_RANDOMIZE);
  const int error = posix_spawnp(&process, arguments[0], &descriptors.actions,
                                 &attributes.attributes, arguments.data(), environ);
  if (personality_before >= 0)
    personality(static_cast<unsigned long>(personality_before));
  if (error != 0)
    return {ProcessEnd::Kind::not_started, error};

  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double>(seconds);
  constexpr std::chrono::milliseconds interval{5};
  bool is_killed = false;
  for (int status = 0;;) {
    const pid_t ended = waitpid(process, &status, is_killed ? 0 : WNOHANG);
    if (ended < 0 && errno != EINTR)
      return {ProcessEnd::Kind::not_started, errno};
    if (ended == process) {
      if (is_killed)
        return {ProcessEnd::Kind::timed_out};
      return WIFEXITED(status) ? ProcessEnd{ProcessEnd::Kind::exited, WEXITSTATUS(status)}
                               : ProcessEnd{ProcessEnd::Kind::signalled, WTERMSIG(status)};
    }
    if (!is_killed && clock::now() > end) {
      kill(process, SIGKILL);
      is_killed = true;
    }
    else
      std::this_thread::sleep_for(interval);
  }
}
} // namespace femgpu
