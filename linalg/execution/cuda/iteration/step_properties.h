#ifndef femgpu_linalg_execution_cuda_iteration_step_properties_h
#define femgpu_linalg_execution_cuda_iteration_step_properties_h

#include "linalg/operators/linear_operator.h"
#include "linalg/steps/gram.h"
#include "linalg/steps/steps.h"

#include <algorithm>
#include <tuple>

namespace femgpu::linalg::cuda
{
/// Properties of the steps of a loop that must be known before the loop is launched.
struct StepProperties
{
  int lanes = 1; ///< threads that share a row: the maximum over all products
  int count = 0; ///< number of kernels, without the kernels that prepare products
  bool is_capturable = true;

  template <class... Steps>
  static StepProperties of(const Steps &...steps)
  {
    StepProperties step_properties;
    (step_properties.add(steps), ...);
    return step_properties;
  }

private:
  // Gram and team steps choose their own number of blocks.
  template <class Step>
  void add(const Step & /* step */)
  {
    ++count;
  }

  template <class Operator, class Body>
  void add(const ProductStep<Operator, Body> &step)
  {
    ++count;
    is_capturable = is_capturable && step.A->is_capturable();
    lanes = std::max(lanes, visit_view(*step.A, [](const auto &view) { return view.lanes; }));
  }

  template <class Make>
  void add(const CountedSteps<Make> &steps)
  {
    for (int j = 0; j < steps.count; ++j)
      std::apply([&](const auto &...steps_of_j) { (add(steps_of_j), ...); }, steps.make(j));
  }

  template <class... Steps>
  void add(const InnerLoop<Steps...> &loop)
  {
    std::apply([&](const auto &...steps) { (add(steps), ...); }, loop.steps);
  }
};
} // namespace femgpu::linalg::cuda

#endif
