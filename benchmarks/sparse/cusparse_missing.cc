#include "benchmarks/sparse/candidate.h"

namespace femgpu::linalg::benchmark
{
std::unique_ptr<Candidate> make_cusparse(Operation /* operation */, const Factors & /* factors */,
                                         bool /* reuses_pattern */)
{
  return nullptr;
}
} // namespace femgpu::linalg::benchmark
