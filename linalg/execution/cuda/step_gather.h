#ifndef femgpu_linalg_execution_cuda_step_gather_h
#define femgpu_linalg_execution_cuda_step_gather_h

#include <cstddef>

namespace femgpu::linalg::cuda
{
/// Gathers what steps of the parts leave on their devices, in order with the steps.
class StepGather
{
public:
  virtual ~StepGather() = default;

  /// Memory on the device for so many @p bytes of this part, and behind them those of all parts.
  virtual char *room(std::size_t bytes) = 0;

  /// Is called by all parts: brings what they have left in room() to all.
  virtual void gather(std::size_t bytes) = 0;
};
} // namespace femgpu::linalg::cuda

#endif
