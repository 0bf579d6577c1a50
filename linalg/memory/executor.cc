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
  if (granted > 0) {
    info.total = std::min(info.total, granted);
    info.free = std::min(info.free, granted - std::min(used, granted));
  }
  return info;
}

void *Executor::allocate(const std::size_t bytes, const MemoryPlace place) const
{
  if (bytes == 0 || place == MemoryPlace::source)
    return nullptr;
  if (place == MemoryPlace::host)
    return allocate_on_host_raw(bytes);
  if (granted > 0 && used + bytes > granted)
    throw DeviceError("The solver needs " + gigabytes(bytes) + " more memory on " + name() +
                      ", but only " + gigabytes(granted - std::min(used, granted)) +
                      " of the granted " + gigabytes(granted) +
                      " are free. Raise the limit (Solver/Device memory, --device-memory), or use "
                      "methods that need less memory: format csr, preconditioner jacobi or "
                      "chebyshev, a solver with fewer vectors.");
  void *const pointer = allocate_raw(bytes);
  used += bytes;
  peak = std::max(peak, used);
  return pointer;
}

void Executor::deallocate(void *const pointer, const std::size_t bytes,
                          const MemoryPlace place) const noexcept
{
  if (pointer == nullptr || place == MemoryPlace::source)
    return;
  if (place == MemoryPlace::host)
    return deallocate_on_host_raw(pointer);
  deallocate_raw(pointer);
  used -= bytes;
}

void Executor::copy_to_host(void *to, const void *from, const std::size_t bytes) const
{
  moved_to_host += bytes;
  copy_to_host_raw(to, from, bytes);
}
} // namespace femgpu::linalg
