#include "benchmarks/speed/candidate.h"

namespace femgpu::linalg::benchmark
{
void add_viennacl(CandidateSpecs & /* candidates */, const Executor & /* executor */,
                  const SpeedSystem & /* system */, const std::vector<std::string> & /* methods */)
{}
} // namespace femgpu::linalg::benchmark
