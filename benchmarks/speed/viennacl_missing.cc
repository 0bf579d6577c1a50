#include "benchmarks/speed/contender.h"

namespace femgpu::linalg::benchmark
{
void add_viennacl(Entrants & /* entrants */, const Executor & /* executor */,
                  const SpeedSystem & /* system */)
{}
} // namespace femgpu::linalg::benchmark
