#ifndef femgpu_linalg_steps_gram_h
#define femgpu_linalg_steps_gram_h

#include "linalg/memory/buffer.h"
#include "linalg/steps/columns.h"

#include <type_traits>

namespace femgpu::linalg
{
class Communicator;

/// Memory for the sums over parts of the rows of Gram steps; one step uses it at a time.
class GramMemory
{
public:
  static constexpr int most_places = 256; ///< parts of the rows; a block of a GPU has one

  GramMemory() = default;

  /// @param most_entries of C; @param communicator of parts of the rows elsewhere, if there are
  /// any. @throws DeviceError without memory
  GramMemory(const ExecutorPtr &executor, const int most_entries,
             const Communicator *communicator = nullptr)
      : sums(executor, places(*executor) * static_cast<std::size_t>(most_entries)),
        arrived(executor, 1), communicator(communicator)
  {
    arrived.fill_zero();
  }

  struct View
  {
    double *sums;                     ///< a place after the other
    unsigned int *arrived;            ///< blocks that have left their sums
    const Communicator *communicator; ///< the host's, or nullptr
  };
  View view()
  {
    return {sums.data(), arrived.data(), communicator};
  }

private:
  // The host has memory of its own for each step.
  static std::size_t places(const Executor &executor)
  {
    return executor.backend() == BackendKind::host ? 0 : most_places;
  }

  Buffer<double> sums;
  Buffer<unsigned int> arrived;
  const Communicator *communicator = nullptr;
};

/**
 * The step for the tall and skinny product C = Xᵀ Y of vectors with n elements. The body has
 *
 *     FEMGPU_HD void entry(int x, int y, double c_xy) const;  // once for each entry, in parallel
 *     FEMGPU_HD void finish(State &) const;                   // in an Iteration, when all are done
 *
 * Sums are added in an order that is fixed for n and a device. X and Y are read once, as far as
 * caches go.
 */
template <class Body_>
struct GramStep
{
  using Body = Body_;
  int n;
  Columns X, Y; ///< data and stride are multiples of two numbers; Iterations take one column Y
  Body body;
  GramMemory::View memory;
};

/// @param memory for X.count Y.count entries
template <class Body>
GramStep<Body> gram(const int n, const Columns &X, const Columns &Y, const Body &body,
                    GramMemory &memory)
{
  return {n, X, Y, body, memory.view()};
}

/// Steps that differ only in what they are told: the tuples make(0), make(1), ..., make(count - 1).
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
