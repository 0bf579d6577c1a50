#ifndef femgpu_linalg_base_host_memory_h
#define femgpu_linalg_base_host_memory_h

#include <cstddef>
#include <string>

namespace femgpu
{
/// The maximum memory for the processes of a run, and what limits it.
struct HostMemory
{
  double bytes;
  std::string bound; ///< what limits the memory, for messages: "this machine has 16.8 GB"
};

/// Returns the minimum of the machine's memory, the limit of the process's control group, and
/// @p n_processes times the address space of one process (`ulimit -v`).
HostMemory host_memory(unsigned int n_processes = 1);

/// Returns how many more bytes this process can map under `ulimit -v`; infinity without a limit.
double free_address_space();

/// Returns the number of bytes that a size such as "2GB" or "512 MiB" denotes; 0 for "all".
/// @throws ParameterError if @p text is not a size
std::size_t parse_memory_size(const std::string &text);

/// Returns @p bytes as text, for example "1.23 GB".
std::string gigabytes(double bytes);
} // namespace femgpu

#endif
