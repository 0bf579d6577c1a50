#ifndef femgpu_linalg_execution_cuda_step_gather_h
#define femgpu_linalg_execution_cuda_step_gather_h

#include <cstddef>

namespace femgpu::linalg::cuda
{
/// Gathers results of steps (steps/steps.h) from the devices of all ranks, in order with the steps.
class StepGather
{
public:
  virtual ~StepGather() = default;

  /// Returns device memory for @p bytes of this rank, followed by memory for @p bytes of each rank.
  virtual char *buffer(std::size_t bytes) = 0;

  /// Copies the @p bytes that each rank has written to buffer() to all ranks. Collective.
  virtual void gather(std::size_t bytes) = 0;
};
} // namespace femgpu::linalg::cuda

#endif
