#ifndef femgpu_linalg_execution_cuda_step_gather_h
#define femgpu_linalg_execution_cuda_step_gather_h

#include <cstddef>

namespace femgpu::linalg::cuda
{
/// Gathers results of steps (steps/steps.h) from the devices of all ranks, in the stream in which
/// the steps run.
class StepGather
{
public:
  virtual ~StepGather() = default;

  /// Returns device memory for parts of size @p bytes: a part that this rank fills, followed by one
  /// part for every rank, which gather() fills.
  virtual char *buffer(std::size_t bytes) = 0;

  /// Sends the first part of buffer(), of size @p bytes, to all ranks, and stores the parts
  /// received from all ranks after it, in rank order. Collective.
  virtual void gather(std::size_t bytes) = 0;
};
} // namespace femgpu::linalg::cuda

#endif
