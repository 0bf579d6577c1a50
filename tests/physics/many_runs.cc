// Runs femgpu many times but loads its libraries, about 200, only once. Each run is a fork of this
// process that does all that main() does. A request is one line of JSON on standard input,
//   {"arguments": ["femgpu", "file.prm", ...], "output": "out.txt", "errors": "err.txt"}
// and the answer is one line: the exit code, or minus the signal that ended the run.
#include "app/program.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{
/// Opens @p path in place of @p stream, as a shell does before it starts a program.
void redirect(const int stream, const std::string &path, const int flags)
{
  const int file = ::open(path.c_str(), flags, 0600);
  if (file < 0 || ::dup2(file, stream) < 0 || ::close(file) != 0)
    ::_exit(126);
}

[[noreturn]] void run(const nlohmann::json &request)
{
  redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  redirect(STDOUT_FILENO, request.at("output"), O_WRONLY | O_CREAT | O_TRUNC);
  redirect(STDERR_FILENO, request.at("errors"), O_WRONLY | O_CREAT | O_TRUNC);
  std::vector<std::string> words = request.at("arguments");
  std::vector<char *> argv;
  argv.reserve(words.size() + 1);
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  std::exit(femgpu::run_program(static_cast<int>(words.size()), argv.data()));
}
} // namespace

int main()
{
  for (std::string line; std::getline(std::cin, line);) {
    const nlohmann::json request = nlohmann::json::parse(line);
    const pid_t child = ::fork();
    if (child == 0)
      run(request);
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child)
      return 1;
    std::cout << (WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)) << std::endl;
  }
  return 0;
}
