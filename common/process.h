#ifndef femgpu_common_process_h
#define femgpu_common_process_h

#include <string>
#include <vector>

namespace femgpu
{
/// How a process ended.
struct ProcessEnd
{
  enum class Kind
  {
    not_started, ///< `number` is the value of errno
    exited,      ///< `number` is the exit code
    signalled,   ///< `number` is the signal
    timed_out    ///< the process was killed at its time limit
  };
  Kind kind;
  int number = 0;

  bool succeeded() const
  {
    return kind == Kind::exited && number == 0;
  }
  /// Returns a description for messages: "ended with exit code 1".
  std::string description() const;
};

/**
 * Runs a program and waits for its end. No shell interprets the words. The program gets no input.
 * It may be run while MPI and CUDA are active, because the memory of this process is not copied.
 * @param words the program, which is searched in PATH, and its arguments
 * @param output file that receives standard output and standard error
 * @param seconds time limit, at which the program is killed
 */
ProcessEnd run_process(const std::vector<std::string> &words, const std::string &output,
                       double seconds);
} // namespace femgpu

#endif
