#include "linalg/base/error.h"
#include "linalg/execution/host/runner.h"
#include "linalg/matrices/cusparse_triangles.h"

namespace femgpu::linalg
{
template <>
std::unique_ptr<CusparseTriangle>
make_cusparse_triangle<HostBackend>(CusparsePart /* part */, const ExecutorPtr & /* executor */,
                                    const CsrView<double> & /* A */, std::size_t /* n_nonzeros */,
                                    double * /* x */, double * /* y */)
{
  throw ParameterError("triangular=cusparse needs a GPU and a femgpu built with CUDA. Use "
                       "triangular=auto on the host.");
}
} // namespace femgpu::linalg
