#ifndef femgpu_linalg_steps_gram_h
#define femgpu_linalg_steps_gram_h

#include "linalg/memory/buffer.h"
#include "linalg/steps/columns.h"

#include <type_traits>

namespace femgpu::linalg
{
class Communicator;

/// Memory for the partial sums of Gram steps (GramStep). Only one step at a time may use an object.
class GramMemory
{
public:
  static constexpr int max_slots = 256; ///< maximum number of GPU blocks; each has a slot

  GramMemory() = default;

  /// @param max_entries maximum number of entries of C = Xᵀ Y
  /// @param communicator communicator of the ranks that own the rows; nullptr: there is one rank
  /// @throws DeviceError if memory is exhausted
  GramMemory(const ExecutorPtr &executor, const int max_entries,
             const Communicator *communicator = nullptr)
      : sums(executor, n_slots(*executor) * static_cast<std::size_t>(max_entries)),
        arrived(executor, 1), communicator(communicator)
  {
    arrived.fill_zero();
  }

  struct View
  {
    double *sums;                     ///< partial sums of each block, one block after the other
    unsigned int *arrived;            ///< number of blocks that have stored their sums
    const Communicator *communicator; ///< nullptr: there is one rank
  };
  View view()
  {
    return {sums.data(), arrived.data(), communicator};
  }

private:
  // Returns the number of slots; 0 on the host, where each step allocates its own memory.
  static std::size_t n_slots(const Executor &executor)
  {
    return executor.backend() == BackendKind::host ? 0 : max_slots;
  }

  Buffer<double> sums;
  Buffer<unsigned int> arrived;
  const Communicator *communicator = nullptr;
};

/**
 * A step for the product C = Xᵀ Y of tall, skinny matrices with n rows. The body has
 *
 *     FEMGPU_HD void entry(int x, int y, double c_xy) const;  // called for each entry, in parallel
 *     FEMGPU_HD void finish(State &) const;                   // only in an Iteration: called last
 *
 * The order of additions is fixed for a given n and device. X and Y are read from memory once if
 * the caches suffice.
 */
template <class Body_>
struct GramStep
{
  using Body = Body_;
  int n;
  Columns X, Y; ///< aligned to two doubles, with an even stride; in an Iteration, Y has one column
  Body body;
  GramMemory::View memory;
};

/// Makes a Gram step. @param memory memory for at least X.count * Y.count entries
template <class Body>
GramStep<Body> gram(const int n, const Columns &X, const Columns &Y, const Body &body,
                    GramMemory &memory)
{
  return {n, X, Y, body, memory.view()};
}

/// A sequence of steps: make(j) returns a tuple of steps, which run for j = 0, 1, ..., count-1 in
/// turn. All tuples have the same type.
template <class Make_>
struct CountedSteps
{
  int count;
  Make_ make;
};

template <class Step>
struct IsCountedSteps : std::false_type
{};
template <class Make>
struct IsCountedSteps<CountedSteps<Make>> : std::true_type
{};

template <class Make>
CountedSteps<Make> counted_steps(const int count, const Make &make)
{
  return {count, make};
}
} // namespace femgpu::linalg

#endif
