#ifndef femgpu_linalg_matrices_cusparse_h
#define femgpu_linalg_matrices_cusparse_h

#include "linalg/memory/executor.h"

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <string>

namespace femgpu::linalg
{
/// @throws ParameterError if cuSPARSE has no such operation, DeviceError for every other failure.
void check_cusparse(cusparseStatus_t status, const std::string &call);

/// Every call of cuSPARSE goes through this.
#define FEMGPU_CUSPARSE(call) ::femgpu::linalg::check_cusparse((call), #call)

/// Destroys a description of an operand.
inline void destroy(const cusparseSpMatDescr_t description)
{
  cusparseDestroySpMat(description);
}
inline void destroy(const cusparseDnVecDescr_t description)
{
  cusparseDestroyDnVec(description);
}

/// Owns a description of cuSPARSE, or none yet.
template <class Description>
class CusparseOwner
{
public:
  CusparseOwner() = default;
  ~CusparseOwner()
  {
    if (description != nullptr)
      destroy(description);
  }
  CusparseOwner(const CusparseOwner &) = delete;
  CusparseOwner &operator=(const CusparseOwner &) = delete;

  /// The address at which cuSPARSE stores the description that it creates.
  Description *operator&()
  {
    return &description;
  }
  operator Description() const
  {
    return description;
  }

private:
  Description description = nullptr;
};

/// The handle that this thread of the program has for a CUDA device.
/// @param stream for the operations; nullptr: that of @p executor
cusparseHandle_t cusparse_handle(const Executor &executor, cudaStream_t stream = nullptr);
} // namespace femgpu::linalg

#endif
