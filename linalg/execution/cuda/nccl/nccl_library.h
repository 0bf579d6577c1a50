#ifndef femgpu_linalg_execution_cuda_nccl_nccl_library_h
#define femgpu_linalg_execution_cuda_nccl_nccl_library_h

#include <nccl.h>

namespace femgpu::linalg::cuda
{
/// The functions of NCCL that we call. The library is loaded when it is wanted: it is large, and
/// need not be where nobody wants it.
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

  /// The one of this process, from the first call to its end. @throws DeviceError where it is not
  /// found
  static const NcclLibrary &get();

  /// @throws DeviceError with the @p call and NCCL's text unless it has succeeded
  void check(ncclResult_t result, const char *call) const;
};
} // namespace femgpu::linalg::cuda

#endif
