#include "linalg/matrices/cusparse.h"

#include "linalg/base/error.h"

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
} // namespace femgpu::linalg
