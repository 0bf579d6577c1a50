#ifndef femgpu_linalg_steps_execution_h
#define femgpu_linalg_steps_execution_h

#include <string>

namespace femgpu::linalg
{
/// How the loop of a solver runs on a GPU; ignored on the host.
enum class Execution
{
  automatic, ///< resident if that is faster, otherwise graph
  graph,     ///< one CUDA graph with a kernel for each step
  resident   ///< one kernel, which keeps vectors and matrix on the chip
};

/// Parses "auto", "graph" or "resident". @throws ParameterError if @p word is none of them
Execution execution_of(const std::string &word);

/// Reports that the loop for a system of @p n rows cannot be resident, although this was requested.
/// @throws ParameterError always
[[noreturn]] void throw_not_resident(int n);
std::string to_string(Execution execution);
} // namespace femgpu::linalg

#endif
