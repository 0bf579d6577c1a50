#include "linalg/base/error.h"
#include "linalg/direct_solver.h"

namespace femgpu::linalg
{
bool has_umfpack()
{
  return false;
}

LuFactors::LuFactors(const HostCsr & /* A */) : n(0), values(nullptr)
{
  check_solver("direct"); // throws
}

LuFactors::~LuFactors() = default;

bool LuFactors::solve(double * /* v */) const
{
  return false;
}
} // namespace femgpu::linalg
