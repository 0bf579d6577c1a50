#ifndef femgpu_linalg_execution_cuda_nccl_nccl_library_h
#define femgpu_linalg_execution_cuda_nccl_nccl_library_h

#include <nccl.h>

namespace femgpu::linalg::cuda
{
/// The NCCL functions that we call. The library is large, and is loaded only when it is needed.
/// Programs that do not use NCCL run without the library.
struct NcclLibrary
{
  decltype(&ncclGetErrorString) get_error_string;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRank) comm_init_rank;
  decltype(&ncclCommDestroy) comm_destroy;
  decltype(&ncclCommAbort) comm_abort;
  decltype(&ncclCommGetAsyncError) comm_get_async_error;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;

  /// Returns the library of this process, which the first call loads permanently.
  /// @throws DeviceError if the library is not found or too old
  static const NcclLibrary &get();

  /// Throws DeviceError with @p call and NCCL's message unless @p result is ncclSuccess.
  void check(ncclResult_t result, const char *call) const;
};
} // namespace femgpu::linalg::cuda

#endif
