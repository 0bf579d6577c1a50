#ifndef femgpu_linalg_base_host_memory_h
#define femgpu_linalg_base_host_memory_h

#include <cstddef>
#include <string>

namespace femgpu
{
/// How much memory the processes of a run can have at most, and what says so.
struct HostMemory
{
  double bytes;
  std::string bound; ///< as "this machine has 16.8 GB"
};

/// The least of the memory of the machine, of the limit of its control group, and of the address
/// space (`ulimit -v`) of @p n_processes.
HostMemory host_memory(unsigned int n_processes = 1);

/// Bytes that this process may still map under `ulimit -v`; infinite without that limit.
double free_address_space();

/// The bytes of "2GB", "512 MiB" or "all", which is 0. @throws ParameterError for anything else
std::size_t bytes_of(const std::string &text);

/// "1.23 GB"
std::string gigabytes(double bytes);
} // namespace femgpu

#endif
