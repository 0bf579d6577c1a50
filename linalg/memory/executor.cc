#include "linalg/memory/executor.h"

#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/base/text.h"

#include <algorithm>

namespace femgpu::linalg
{
MemoryInfo Executor::memory() const
{
  MemoryInfo info = memory_raw();
  if (memory_limit > 0) {
    info.total = std::min(info.total, memory_limit);
    info.free = std::min(info.free, memory_limit - std::min(used, memory_limit));
  }
  return info;
}

void *Executor::allocate(const std::size_t bytes, const MemoryLocation location) const
{
  if (bytes == 0 || location == MemoryLocation::source)
    return nullptr;
  if (location == MemoryLocation::host)
    return allocate_on_host_raw(bytes);
  if (memory_limit > 0 && used + bytes > memory_limit)
    throw DeviceError("The solver needs " + gigabytes(bytes) + " more memory on " + name() +
                      ", but only " + gigabytes(memory_limit - std::min(used, memory_limit)) +
                      " of the granted " + gigabytes(memory_limit) +
                      " are free. Grant more device memory, or use methods that need less memory: "
                      "format csr, preconditioner jacobi or "
                      "chebyshev, a solver with fewer vectors.");
  void *const pointer = allocate_raw(bytes);
  used += bytes;
  peak = std::max(peak, used);
  return pointer;
}

void Executor::deallocate(void *const pointer, const std::size_t bytes,
                          const MemoryLocation location) const noexcept
{
  if (pointer == nullptr || location == MemoryLocation::source)
    return;
  if (location == MemoryLocation::host)
    return deallocate_on_host_raw(pointer);
  deallocate_raw(pointer);
  used -= bytes;
}

void Executor::copy_to_host(void *to, const void *from, const std::size_t bytes) const
{
  if (!is_device_memory(to))
    copied_to_host += bytes;
  copy_to_host_raw(to, from, bytes);
}
} // namespace femgpu::linalg
