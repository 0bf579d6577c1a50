#ifndef femgpu_linalg_dealii_node_memory_h
#define femgpu_linalg_dealii_node_memory_h

#include <mpi.h>

#include <cstddef>
#include <utility>

namespace femgpu::linalg
{
/**
 * Memory shared by the ranks of one node: one range of addresses, with the ranks' parts in rank
 * order. The pages of each rank are a separate file in memory, so that all ranks allocate and free
 * their pages at the same time; with a single file, as an MPI window has, the ranks would wait for
 * one another. The memory is not subject to the limit of /dev/shm.
 */
class NodeMemory
{
public:
  NodeMemory() = default;

  /**
   * Allocates zeroed memory. Collective.
   * @param my_bytes size of this rank's part; the parts are contiguous
   * @throws DeviceError on all ranks if one of them cannot allocate or map the memory
   */
  NodeMemory(MPI_Comm communicator, std::size_t my_bytes);

  /// Collective, unless this rank is handling an error that the other ranks may not have.
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

  /// Returns the start of the first rank's part; the same memory on all ranks.
  void *data() const
  {
    return base;
  }

  /// Makes the data that each rank has written visible to all ranks. Collective.
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
  /// Unmaps pages of other ranks in parallel, with n_loop_threads() threads.
  void release_pages(std::size_t first, std::size_t last) noexcept;
  void unmap(std::size_t first, std::size_t last) noexcept;

  MPI_Comm communicator = MPI_COMM_NULL;
  char *base = nullptr;
  std::size_t mine = 0, others = 0, end = 0; ///< in bytes: start and end of this rank's pages, and
                                             ///< the end of all pages
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
