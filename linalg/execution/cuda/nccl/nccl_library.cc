#include "linalg/execution/cuda/nccl/nccl_library.h"

#include "linalg/base/error.h"

#include <dlfcn.h>

#include <string>

namespace femgpu::linalg::cuda
{
namespace
{
constexpr const char *file = "libnccl.so.2";

template <class Function>
void find(void *const library, const char *const name, Function &function)
{
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw DeviceError(std::string(file) + " has no function " + name +
                      ": it is too old. Install NCCL 2.7 or newer.");
}

NcclLibrary load()
{
  void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw DeviceError(std::string("NCCL cannot be loaded: ") + dlerror() +
                      ". Install it, or add its directory to LD_LIBRARY_PATH.");
  NcclLibrary nccl{};
  find(library, "ncclGetErrorString", nccl.get_error_string);
  find(library, "ncclGetUniqueId", nccl.get_unique_id);
  find(library, "ncclCommInitRank", nccl.comm_init_rank);
  find(library, "ncclCommDestroy", nccl.comm_destroy);
  find(library, "ncclCommAbort", nccl.comm_abort);
  find(library, "ncclCommGetAsyncError", nccl.comm_get_async_error);
  find(library, "ncclAllGather", nccl.all_gather);
  find(library, "ncclSend", nccl.send);
  find(library, "ncclRecv", nccl.receive);
  find(library, "ncclGroupStart", nccl.group_start);
  find(library, "ncclGroupEnd", nccl.group_end);
  return nccl;
}
} // namespace

const NcclLibrary &NcclLibrary::get()
{
  static const NcclLibrary library = load();
  return library;
}

void NcclLibrary::check(const ncclResult_t result, const char *const call) const
{
  if (result != ncclSuccess)
    throw DeviceError(std::string("NCCL: ") + call + " failed: " + get_error_string(result) +
                      ". Use communicator mpi to run without NCCL.");
}
} // namespace femgpu::linalg::cuda
