#ifndef femgpu_linalg_matrices_cusparse_h
#define femgpu_linalg_matrices_cusparse_h

#include "linalg/memory/executor.h"

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <string>

namespace femgpu::linalg
{
/// Checks @p status, which the cuSPARSE call @p call returned.
/// @throws ParameterError if cuSPARSE does not support the operation
/// @throws DeviceError for any other failure
void check_cusparse(cusparseStatus_t status, const std::string &call);

/// Checks a call of cuSPARSE. All calls use this macro.
#define FEMGPU_CUSPARSE(call) ::femgpu::linalg::check_cusparse((call), #call)

/// Destroys the descriptor of an operand.
inline void destroy(const cusparseSpMatDescr_t descriptor)
{
  cusparseDestroySpMat(descriptor);
}
inline void destroy(const cusparseDnVecDescr_t descriptor)
{
  cusparseDestroyDnVec(descriptor);
}

/// Owns a cuSPARSE descriptor; empty until cuSPARSE has created it.
template <class Descriptor>
class CusparseOwner
{
public:
  CusparseOwner() = default;
  ~CusparseOwner()
  {
    if (descriptor != nullptr)
      destroy(descriptor);
  }
  CusparseOwner(const CusparseOwner &) = delete;
  CusparseOwner &operator=(const CusparseOwner &) = delete;

  /// Returns the address at which cuSPARSE stores the descriptor that it creates.
  Descriptor *operator&()
  {
    return &descriptor;
  }
  operator Descriptor() const
  {
    return descriptor;
  }

private:
  Descriptor descriptor = nullptr;
};

/// Returns the cuSPARSE handle of this host thread for the CUDA device of @p executor.
/// @param stream the stream in which operations run; nullptr: the stream of @p executor
cusparseHandle_t cusparse_handle(const Executor &executor, cudaStream_t stream = nullptr);
} // namespace femgpu::linalg

#endif
