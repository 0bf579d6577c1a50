#include "benchmarks/sparse/contender.h"

namespace femgpu::linalg::benchmark
{
std::unique_ptr<Contender> make_cusparse(Operation /* operation */, const Factors & /* factors */,
                                         bool /* keeps_pattern */)
{
  return nullptr;
}
} // namespace femgpu::linalg::benchmark
