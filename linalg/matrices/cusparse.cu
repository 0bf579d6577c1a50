#include "linalg/matrices/cusparse.h"

#include "linalg/base/error.h"
#include "linalg/execution/cuda/executor.h"

#include <map>

namespace femgpu::linalg
{
void check_cusparse(const cusparseStatus_t status, const std::string &call)
{
  if (status == CUSPARSE_STATUS_SUCCESS)
    return;
  const std::string text =
      "cuSPARSE reported '" + std::string(cusparseGetErrorString(status)) + "' in " + call + ". ";
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED)
    throw ParameterError(text + "Use another matrix format, for example csr.");
  throw DeviceError(text + "Check the free memory of the device, or use another matrix format.");
}

cusparseHandle_t cusparse_handle(const Executor &executor, const cudaStream_t stream)
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
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
  };
  const auto &on = static_cast<const CudaExecutor &>(executor);
  on.make_current();
  static thread_local std::map<int, Handle> handles;
  const cusparseHandle_t handle = handles[on.device_number()].handle;
  FEMGPU_CUSPARSE(cusparseSetStream(handle, stream == nullptr ? on.stream() : stream));
  return handle;
}
} // namespace femgpu::linalg
