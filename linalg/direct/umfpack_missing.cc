#include "linalg/base/error.h"
#include "linalg/direct/factors.h"
#include "linalg/execution/backends.h"

namespace femgpu::linalg
{
bool has_umfpack()
{
  return false;
}

template <>
std::unique_ptr<Factors> make_factors_on<HostBackend>(const ExecutorPtr & /* executor */)
{
  throw ParameterError("Solver 'direct' needs UMFPACK on the host, but this femgpu was built "
                       "without it. Install libsuitesparse-dev and rebuild femgpu, or use another "
                       "solver.",
                       "solver");
}
} // namespace femgpu::linalg
