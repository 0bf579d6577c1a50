#ifndef femgpu_linalg_memory_buffer_h
#define femgpu_linalg_memory_buffer_h

#include "linalg/memory/executor.h"

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/**
 * Owns an array of plain data in the memory of one executor. A buffer can be moved but not copied
 * implicitly; each copying function below names its source or destination. Kernels access the bare
 * pointer.
 */
template <class T>
class Buffer
{
  static_assert(std::is_trivially_copyable_v<T>);

public:
  Buffer() = default;

  /// Allocates an uninitialised array of length @p size.
  /// @throws DeviceError if memory is exhausted
  Buffer(ExecutorPtr owner, const std::size_t size,
         const MemoryLocation location = MemoryLocation::executor)
      : owner(std::move(owner)),
        pointer(static_cast<T *>(this->owner->allocate(size * sizeof(T), location))), length(size),
        location(location)
  {}

  /// Allocates an array of length @p size and copies its elements from @p host. With
  /// MemoryLocation::source, the buffer refers to the memory at @p host instead.
  Buffer(ExecutorPtr owner, const T *host, const std::size_t size,
         const MemoryLocation location = MemoryLocation::executor)
      : Buffer(std::move(owner), size, location)
  {
    copy_from_host(host);
  }

  Buffer(Buffer &&other) noexcept
  {
    swap(other);
  }
  Buffer &operator=(Buffer &&other) noexcept
  {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  ~Buffer()
  {
    if (pointer != nullptr)
      owner->deallocate(pointer, bytes(), location);
  }

  T *data()
  {
    return pointer;
  }
  const T *data() const
  {
    return pointer;
  }
  std::size_t size() const
  {
    return length;
  }
  std::size_t bytes() const
  {
    return length * sizeof(T);
  }
  bool is_on_host() const
  {
    return location == MemoryLocation::host;
  }

  /// Copies @p count elements from host memory to the first elements of the buffer. With
  /// MemoryLocation::source, the buffer refers to the memory at @p host instead.
  void copy_from_host(const T *host, const std::size_t count)
  {
    if (location == MemoryLocation::source)
      pointer = const_cast<T *>(host); // kernels only read it
    else if (count > 0)
      owner->copy_from_host(pointer, host, count * sizeof(T));
  }
  /// Copies the first @p count elements to host memory.
  void copy_to_host(T *host, const std::size_t count) const
  {
    if (count > 0)
      owner->copy_to_host(host, pointer, count * sizeof(T));
  }
  /// Copies size() elements from host memory, as copy_from_host(host, size()) does.
  void copy_from_host(const T *host)
  {
    copy_from_host(host, length);
  }
  /// Copies all elements to host memory.
  void copy_to_host(T *host) const
  {
    copy_to_host(host, length);
  }
  /// Copies size() elements from @p other, a buffer of the same executor, after all steps launched
  /// so far.
  void copy_from(const Buffer &other)
  {
    if (length > 0)
      owner->copy_within(pointer, other.pointer, bytes());
  }
  Buffer copy() const
  {
    Buffer result(owner, length);
    result.copy_from(*this);
    return result;
  }
  /// Returns a copy of the first @p count elements in host memory.
  std::vector<T> to_host(const std::size_t count) const
  {
    std::vector<T> host(count);
    copy_to_host(host.data(), count);
    return host;
  }
  std::vector<T> to_host() const
  {
    return to_host(length);
  }
  void fill_zero()
  {
    if (length > 0)
      owner->fill_zero(pointer, bytes());
  }

private:
  void swap(Buffer &other) noexcept
  {
    std::swap(owner, other.owner);
    std::swap(pointer, other.pointer);
    std::swap(length, other.length);
    std::swap(location, other.location);
  }

  ExecutorPtr owner;
  T *pointer = nullptr;
  std::size_t length = 0;
  MemoryLocation location = MemoryLocation::executor;
};
} // namespace femgpu::linalg

#endif
