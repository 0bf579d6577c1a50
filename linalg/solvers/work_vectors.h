#ifndef femgpu_linalg_solvers_work_vectors_h
#define femgpu_linalg_solvers_work_vectors_h

#include "linalg/memory/buffer.h"
#include "linalg/operators/matrix.h"
#include "linalg/steps/columns.h"

namespace femgpu::linalg
{
/// Contiguous vectors of a method, which are allocated and cleared together; each has memory for
/// ghosts.
class WorkVectors
{
public:
  WorkVectors(const Matrix &A, const int count) : WorkVectors(*A.domain(), count)
  {}
  WorkVectors(const RowSpace &space, const int count)
      : stride((space.n_with_ghosts() + alignment - 1) / alignment * alignment),
        memory(space.executor(), stride * static_cast<std::size_t>(count))
  {}

  double *operator[](const int k)
  {
    return memory.data() + stride * static_cast<std::size_t>(k);
  }
  /// Returns @p count vectors, from number @p first on.
  Columns columns(const int first, const int count)
  {
    return {(*this)[first], stride, count};
  }
  void fill_zero()
  {
    memory.fill_zero();
  }

private:
  static constexpr std::size_t alignment = 32; // in doubles

  std::size_t stride;
  Buffer<double> memory;
};
} // namespace femgpu::linalg

#endif
