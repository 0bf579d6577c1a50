#include "linalg/base/error.h"
#include "linalg/execution/host/runner.h"
#include "linalg/matrices/cusparse_triangles.h"

namespace femgpu::linalg
{
template <>
std::unique_ptr<CusparseTriangles> make_cusparse_triangles<HostBackend>(
    const ExecutorPtr & /* executor */, const int /* n */, const std::size_t /* n_nonzeros */,
    const int * /* row_starts */, const int * /* columns */, const double * /* values */,
    const TriangleVectors & /* vectors */)
{
  throw ParameterError("triangular=cusparse needs a GPU and a femgpu built with CUDA. Use "
                       "triangular=auto on the host.");
}
} // namespace femgpu::linalg
