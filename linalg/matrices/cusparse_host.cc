#include "linalg/base/error.h"
#include "linalg/execution/host_runner.h"
#include "linalg/matrices/cusparse_triangles.h"
#include "linalg/matrices/registry.h"

namespace femgpu::linalg
{
namespace
{
[[noreturn]] void refuse(const Method &method)
{
  throw ParameterError("The format '" + method.name() +
                       "' needs a GPU and a femgpu built with CUDA. Use csr on the host.");
}
} // namespace

template <class Backend>
std::unique_ptr<Matrix> make_cusparse_csr_format(const CsrMatrix & /* A */, Method &method)
{
  refuse(method);
}
template <class Backend>
std::unique_ptr<Matrix> make_cusparse_sell_format(const CsrMatrix & /* A */, Method &method)
{
  refuse(method);
}
template <class Backend>
std::unique_ptr<Matrix> make_cusparse_bsr_format(const CsrMatrix & /* A */, Method &method)
{
  refuse(method);
}

template <class Backend>
std::unique_ptr<CusparseTriangles>
make_cusparse_triangles(const ExecutorPtr & /* executor */, const int /* n */,
                        const std::size_t /* n_nonzeros */, const int * /* row_starts */,
                        const int * /* columns */, const double * /* values */,
                        const TriangleVectors & /* vectors */)
{
  throw ParameterError("triangular=cusparse needs a GPU and a femgpu built with CUDA. Use "
                       "triangular=auto on the host.");
}

template std::unique_ptr<CusparseTriangles>
make_cusparse_triangles<HostBackend>(const ExecutorPtr &, int, std::size_t, const int *,
                                     const int *, const double *, const TriangleVectors &);
template std::unique_ptr<Matrix> make_cusparse_csr_format<HostBackend>(const CsrMatrix &, Method &);
template std::unique_ptr<Matrix> make_cusparse_sell_format<HostBackend>(const CsrMatrix &,
                                                                        Method &);
template std::unique_ptr<Matrix> make_cusparse_bsr_format<HostBackend>(const CsrMatrix &, Method &);
} // namespace femgpu::linalg
