#include "linalg/matrices/cusparse_triangles.h"

#include "linalg/execution/cuda/runner.cuh"
#include "linalg/execution/memory/buffer.h"
#include "linalg/matrices/cusparse.h"

#include <algorithm>
#include <cstdint>

namespace femgpu::linalg
{
namespace
{
/// One triangle: y = T⁻¹ x.
class CusparseTriangle
{
public:
  CusparseTriangle(const ExecutorPtr &executor, cusparseFillMode_t triangle, const int n,
                   const std::size_t n_nonzeros, const int *row_starts, const int *columns,
                   const double *values, double *x_, double *y_)
  {
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    FEMGPU_CUSPARSE(cusparseCreateCsr(&matrix, n, n, static_cast<std::int64_t>(n_nonzeros),
                                      const_cast<int *>(row_starts), const_cast<int *>(columns),
                                      const_cast<double *>(values), CUSPARSE_INDEX_32I,
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    FEMGPU_CUSPARSE(
        cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_FILL_MODE, &triangle, sizeof(triangle)));
    FEMGPU_CUSPARSE(
        cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)));
    FEMGPU_CUSPARSE(cusparseCreateDnVec(&x, n, x_, CUDA_R_64F));
    FEMGPU_CUSPARSE(cusparseCreateDnVec(&y, n, y_, CUDA_R_64F));
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
  ~CusparseTriangle()
  {
    if (solve_data != nullptr)
      cusparseSpSV_destroyDescr(solve_data);
    if (y != nullptr)
      cusparseDestroyDnVec(y);
    if (x != nullptr)
      cusparseDestroyDnVec(x);
    if (matrix != nullptr)
      cusparseDestroySpMat(matrix);
  }
  CusparseTriangle(const CusparseTriangle &) = delete;
  CusparseTriangle &operator=(const CusparseTriangle &) = delete;

  void solve(StepRunner &runner) const
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
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t x = nullptr, y = nullptr;
  cusparseSpSVDescr_t solve_data = nullptr;
};

class BothTriangles final : public CusparseTriangles
{
public:
  BothTriangles(const ExecutorPtr &executor, const int n, const std::size_t n_nonzeros,
                const int *row_starts, const int *columns, const double *values,
                const TriangleVectors &v)
      : lower(executor, CUSPARSE_FILL_MODE_LOWER, n, n_nonzeros, row_starts, columns, values, v.b,
              v.w),
        upper(executor, CUSPARSE_FILL_MODE_UPPER, n, n_nonzeros, row_starts, columns, values, v.w,
              v.z)
  {}
  void solve_lower(StepRunner &runner) const override
  {
    lower.solve(runner);
  }
  void solve_upper(StepRunner &runner) const override
  {
    upper.solve(runner);
  }

private:
  CusparseTriangle lower, upper;
};

/// For a matrix without rows, which cuSPARSE would not take.
class NoTriangles final : public CusparseTriangles
{
public:
  void solve_lower(StepRunner & /* runner */) const override
  {}
  void solve_upper(StepRunner & /* runner */) const override
  {}
};
} // namespace

template <>
std::unique_ptr<CusparseTriangles> make_cusparse_triangles<CudaBackend>(
    const ExecutorPtr &executor, const int n, const std::size_t n_nonzeros, const int *row_starts,
    const int *columns, const double *values, const TriangleVectors &vectors)
{
  if (n == 0)
    return std::make_unique<NoTriangles>();
  return std::make_unique<BothTriangles>(executor, n, n_nonzeros, row_starts, columns, values,
                                         vectors);
}
} // namespace femgpu::linalg
