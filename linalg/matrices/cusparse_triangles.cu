#include "linalg/matrices/cusparse_triangles.h"

#include "linalg/execution/cuda/runner.cuh"
#include "linalg/matrices/cusparse.h"
#include "linalg/memory/buffer.h"

#include <algorithm>
#include <cstdint>

namespace femgpu::linalg
{
namespace
{
class AnalysedTriangle final : public CusparseTriangle
{
public:
  AnalysedTriangle(const CusparsePart part, const ExecutorPtr &executor, const CsrView<double> &A,
                   const std::size_t n_nonzeros, double *x_, double *y_)
  {
    cusparseFillMode_t triangle =
        part == CusparsePart::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    FEMGPU_CUSPARSE(cusparseCreateCsr(&matrix, A.n, A.n, static_cast<std::int64_t>(n_nonzeros),
                                      const_cast<int *>(A.row_starts.low),
                                      const_cast<int *>(A.columns), const_cast<double *>(A.values),
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    FEMGPU_CUSPARSE(
        cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_FILL_MODE, &triangle, sizeof(triangle)));
    FEMGPU_CUSPARSE(
        cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)));
    FEMGPU_CUSPARSE(cusparseCreateDnVec(&x, A.n, x_, CUDA_R_64F));
    FEMGPU_CUSPARSE(cusparseCreateDnVec(&y, A.n, y_, CUDA_R_64F));
    FEMGPU_CUSPARSE(cusparseSpSV_createDescr(&solve_data));
    const cusparseHandle_t handle = cusparse_handle(*executor);
    std::size_t size = 0;
    FEMGPU_CUSPARSE(cusparseSpSV_bufferSize(handle, no_transpose, &one, matrix, x, y, CUDA_R_64F,
                                            CUSPARSE_SPSV_ALG_DEFAULT, solve_data, &size));
    workspace = Buffer<char>(executor, std::max<std::size_t>(size, 1));
    FEMGPU_CUSPARSE(cusparseSpSV_analysis(handle, no_transpose, &one, matrix, x, y, CUDA_R_64F,
                                          CUSPARSE_SPSV_ALG_DEFAULT, solve_data, workspace.data()));
    executor->synchronize();
  }
  void solve(StepRunner &runner) const override
  {
    const auto &on = static_cast<Runner<CudaBackend> &>(runner);
    FEMGPU_CUSPARSE(cusparseSpSV_solve(cusparse_handle(on.executor(), on.stream()), no_transpose,
                                       &one, matrix, x, y, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT,
                                       solve_data));
  }

private:
  static constexpr cusparseOperation_t no_transpose = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr double one = 1.;

  Buffer<char> workspace; // solves use it too
  CusparseOwner<cusparseSpMatDescr_t> matrix;
  CusparseOwner<cusparseDnVecDescr_t> x, y;
  CusparseOwner<cusparseSpSVDescr_t> solve_data;
};
} // namespace

template <>
std::unique_ptr<CusparseTriangle>
make_cusparse_triangle<CudaBackend>(const CusparsePart part, const ExecutorPtr &executor,
                                    const CsrView<double> &A, const std::size_t n_nonzeros,
                                    double *x, double *y)
{
  if (A.n == 0) // which cuSPARSE would not take
    return nullptr;
  return std::make_unique<AnalysedTriangle>(part, executor, A, n_nonzeros, x, y);
}
} // namespace femgpu::linalg
