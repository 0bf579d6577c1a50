#ifndef femgpu_linalg_dealii_node_memory_h
#define femgpu_linalg_dealii_node_memory_h

#include <mpi.h>

#include <cstddef>
#include <utility>

namespace femgpu::linalg
{
/// Memory that ranks of one node share: one segment in the order of the ranks.
class NodeMemory
{
public:
  NodeMemory() = default;

  /**
   * Collective. @param my_bytes this rank's part of the segment; the parts follow one another.
   * @throws DeviceError if the node has not enough shared memory.
   */
  NodeMemory(MPI_Comm communicator, std::size_t my_bytes);
  ~NodeMemory();

  NodeMemory(NodeMemory &&other) noexcept
  {
    swap(other);
  }
  NodeMemory &operator=(NodeMemory &&other) noexcept
  {
    NodeMemory moved(std::move(other));
    swap(moved);
    return *this;
  }
  NodeMemory(const NodeMemory &) = delete;
  NodeMemory &operator=(const NodeMemory &) = delete;

  /// The begin of the whole segment; the same memory on all ranks.
  void *data() const
  {
    return base;
  }

  /// Makes what this rank wrote visible to the others, and the reverse, around a barrier.
  void synchronize() const;

private:
  void swap(NodeMemory &other) noexcept
  {
    std::swap(window, other.window);
    std::swap(base, other.base);
  }

  MPI_Win window = MPI_WIN_NULL;
  void *base = nullptr;
};

/// A NodeMemory of elements of one type.
template <class T>
class NodeArray
{
public:
  NodeArray() = default;
  NodeArray(MPI_Comm communicator, const std::size_t my_size)
      : memory(communicator, my_size * sizeof(T))
  {}

  T *data() const
  {
    return static_cast<T *>(memory.data());
  }
  void synchronize() const
  {
    memory.synchronize();
  }

private:
  NodeMemory memory;
};
} // namespace femgpu::linalg

#endif
