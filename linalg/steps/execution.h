#ifndef femgpu_linalg_steps_execution_h
#define femgpu_linalg_steps_execution_h

#include <string>

namespace femgpu::linalg
{
/// How the loop of a solver runs on a GPU. On the host it makes no difference.
enum class Execution
{
  automatic, ///< resident where that is faster
  graph,     ///< one graph, a kernel a step
  resident   ///< one kernel that keeps vectors and matrix on the chip
};

/// "auto", "graph", "resident". @throws ParameterError if @p word is none of them
Execution execution_of(const std::string &word);

/// Where a loop of @p n rows cannot be resident but should be. @throws ParameterError always
[[noreturn]] void refuse_resident(int n);
std::string to_string(Execution execution);
} // namespace femgpu::linalg

#endif
