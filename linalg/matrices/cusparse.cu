#include "linalg/matrices/cusparse.h"

#include "linalg/base/error.h"
#include "linalg/execution/cuda_executor.h"
#include "linalg/execution/cuda_runner.cuh"
#include "linalg/matrices/transpose.h"

namespace femgpu::linalg
{
void check_cusparse(const cusparseStatus_t status, const std::string &call)
{
  if (status == CUSPARSE_STATUS_SUCCESS)
    return;
  const std::string text =
      "cuSPARSE says '" + std::string(cusparseGetErrorString(status)) + "' of " + call + ". ";
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED)
    throw ParameterError(text + "Use another matrix format, as csr.");
  throw DeviceError(text + "Look at the device's memory, or use another matrix format.");
}

cusparseHandle_t cusparse_handle(const cudaStream_t stream)
{
  struct Handle
  {
    cusparseHandle_t handle = nullptr;
    Handle()
    {
      FEMGPU_CUSPARSE(cusparseCreate(&handle));
    }
    ~Handle()
    {
      cusparseDestroy(handle);
    }
  };
  static thread_local const Handle handle;
  FEMGPU_CUSPARSE(cusparseSetStream(handle.handle, stream));
  return handle.handle;
}

template <class Backend>
std::unique_ptr<CsrMatrix> transpose(const CsrMatrix &A)
{
  const ExecutorPtr owner = A.executor();
  const CsrView<double> view = A.csr_view();
  Buffer<int> row_starts(owner, static_cast<std::size_t>(A.n()) + 1);
  Buffer<int> columns(owner, A.n_nonzeros());
  Buffer<double> values(owner, A.n_nonzeros());
  row_starts.fill_zero();
  if (A.n_nonzeros() > 0) {
    const cusparseHandle_t handle =
        cusparse_handle(static_cast<const CudaExecutor &>(*owner).stream());
    const auto n_nonzeros = static_cast<int>(A.n_nonzeros());
    std::size_t size = 0;
    FEMGPU_CUSPARSE(cusparseCsr2cscEx2_bufferSize(
        handle, A.n(), A.n(), n_nonzeros, view.values, view.row_starts, view.columns, values.data(),
        row_starts.data(), columns.data(), CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
        CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &size));
    Buffer<char> workspace(owner, size);
    FEMGPU_CUSPARSE(cusparseCsr2cscEx2(
        handle, A.n(), A.n(), n_nonzeros, view.values, view.row_starts, view.columns, values.data(),
        row_starts.data(), columns.data(), CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
        CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, workspace.data()));
    owner->synchronize();
  }
  return std::make_unique<CsrMatrix>(owner, std::move(row_starts), std::move(columns),
                                     std::move(values));
}

template std::unique_ptr<CsrMatrix> transpose<CudaBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
