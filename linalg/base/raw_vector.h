#ifndef femgpu_linalg_base_raw_vector_h
#define femgpu_linalg_base_raw_vector_h

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// Leaves elements that have no value uninitialised.
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

/// A vector of @p n numbers, RawVector<T>(n), touches none of its memory: where several threads
/// write it first, they make its pages together. One core makes 1 to 2 GB/s of them.
template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;
} // namespace femgpu::linalg

#endif
