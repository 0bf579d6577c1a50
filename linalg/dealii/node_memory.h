#ifndef femgpu_linalg_dealii_node_memory_h
#define femgpu_linalg_dealii_node_memory_h

#include <mpi.h>

#include <cstddef>
#include <utility>

namespace femgpu::linalg
{
/**
 * Memory that ranks of one node share: one range of addresses in the order of the ranks. The pages
 * of each are a file of its own in memory, so that all ranks make and free theirs at the same time;
 * in one file, as windows of MPI are, they wait for one another. No limit of /dev/shm holds.
 */
class NodeMemory
{
public:
  NodeMemory() = default;

  /**
   * Collective. The memory is zero.
   * @param my_bytes this rank's part; the parts follow one another
   * @throws DeviceError on all ranks if one cannot have or see the memory
   */
  NodeMemory(MPI_Comm communicator, std::size_t my_bytes);

  /// Collective, but not after an error, which another rank may not have.
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

  /// The begin of all parts; the same memory on all ranks.
  void *data() const
  {
    return base;
  }

  /// Collective. What ranks wrote before, all see afterwards.
  static void synchronize(MPI_Comm communicator);

private:
  void swap(NodeMemory &other) noexcept
  {
    std::swap(communicator, other.communicator);
    std::swap(base, other.base);
    std::swap(mine, other.mine);
    std::swap(others, other.others);
    std::swap(end, other.end);
  }
  /// Leaves pages that other ranks have made, with the threads of this rank's loops.
  void leave(std::size_t first, std::size_t last) noexcept;
  void unmap(std::size_t first, std::size_t last) noexcept;

  MPI_Comm communicator = MPI_COMM_NULL;
  char *base = nullptr;
  std::size_t mine = 0, others = 0, end = 0; ///< bytes: where this rank's pages begin, where those
                                             ///< behind them, and where all end
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

private:
  NodeMemory memory;
};
} // namespace femgpu::linalg

#endif
