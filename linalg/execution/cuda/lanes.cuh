#ifndef femgpu_linalg_execution_cuda_lanes_cuh
#define femgpu_linalg_execution_cuda_lanes_cuh

#include "linalg/execution/steps/columns.h"
#include "linalg/execution/steps/gram.h"
#include "linalg/execution/steps/steps.h"
#include "linalg/operators/linear_operator.h"

#include <algorithm>
#include <tuple>

namespace femgpu::linalg::cuda
{
/// Threads that share a row in a step: the most of those that belong together.
struct Lanes
{
  template <class Body>
  static int of(const RowStep<Body> & /* step */)
  {
    return 1;
  }
  template <class Operator, class Body>
  static int of(const ProductStep<Operator, Body> &step)
  {
    return visit_view(*step.A, [](const auto &view) { return view.lanes; });
  }

  // These have blocks of their own.
  template <class Body>
  static int of(const GramStep<Body> & /* step */)
  {
    return 1;
  }
  template <class Body>
  static int of(const TeamStep<Body> & /* step */)
  {
    return 1;
  }

  template <class Make>
  static int of(const CountedSteps<Make> &steps)
  {
    return steps.count == 0 ? 1
                            : std::apply(
                                  [](const auto &...of_j) {
                                    return std::max({1, of(of_j)...});
                                  },
                                  steps.make(0));
  }

  template <class... Steps>
  static int of(const InnerLoop<Steps...> &loop)
  {
    return std::apply([](const auto &...steps) { return std::max({of(steps)...}); }, loop.steps);
  }
};
} // namespace femgpu::linalg::cuda

#endif
