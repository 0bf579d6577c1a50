#ifndef femgpu_linalg_base_raw_vector_h
#define femgpu_linalg_base_raw_vector_h

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// An allocator that leaves elements uninitialised if they are constructed without a value.
template <class T>
struct RawAllocator : std::allocator<T>
{
  template <class U>
  struct rebind
  {
    using other = RawAllocator<U>;
  };
  template <class U, class... Values>
  void construct(U *const at, Values &&...values)
  {
    if constexpr (sizeof...(Values) == 0)
      ::new (static_cast<void *>(at)) U;
    else
      ::new (static_cast<void *>(at)) U(std::forward<Values>(values)...);
  }
};

/// A vector whose constructor RawVector<T>(n) does not touch its memory. If several threads then
/// write the memory first, they share the cost of page faults; a single thread can fault in only
/// 1 to 2 GB/s.
template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;
} // namespace femgpu::linalg

#endif
