#include "benchmarks/speed/contender.h"

namespace femgpu::linalg::benchmark
{
void add_viennacl(Entrants & /* entrants */, const Executor & /* executor */,
                  const SpeedSystem & /* system */, const std::vector<std::string> & /* methods */)
{}
} // namespace femgpu::linalg::benchmark
