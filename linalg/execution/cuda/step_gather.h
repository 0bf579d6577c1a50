#ifndef femgpu_linalg_execution_cuda_step_gather_h
#define femgpu_linalg_execution_cuda_step_gather_h

#include <cstddef>

namespace femgpu::linalg::cuda
{
/// Gathers results of steps from the devices of all ranks, in order with the steps.
class StepGather
{
public:
  virtual ~StepGather() = default;

  /// Returns device memory for this rank's @p bytes, followed by memory for the bytes of all ranks.
  virtual char *buffer(std::size_t bytes) = 0;

  /// Gathers on all ranks the @p bytes that each rank has written to buffer(). Collective.
  virtual void gather(std::size_t bytes) = 0;
};
} // namespace femgpu::linalg::cuda

#endif
