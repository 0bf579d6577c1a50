#include "linalg/dealii/node_memory.h"

#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"

#include <exception>
#include <filesystem>
#include <string>

namespace femgpu::linalg
{
namespace
{
/// MPI takes the memory that ranks share from /dev/shm, that of a single one as any other.
std::string why_not_shared(const std::size_t bytes)
{
  const std::string part = " " + std::to_string(bytes >> 20) + " MiB";
  std::error_code error;
  const std::filesystem::space_info shared = std::filesystem::space("/dev/shm", error);
  if (!error && shared.available < bytes)
    return "The node has no" + part +
           " of shared memory left for a rank's part of the system. Refine less, or enlarge the "
           "file system /dev/shm.";
  return "The host has not enough memory for" + part +
         ", a rank's part of the system: " + host_memory().bound +
         ". Refine less, or run on more memory.";
}
} // namespace

NodeMemory::NodeMemory(MPI_Comm communicator, const std::size_t my_bytes)
{
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(communicator, &handler);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  void *mine = nullptr;
  const int error = MPI_Win_allocate_shared(static_cast<MPI_Aint>(my_bytes), 1, MPI_INFO_NULL,
                                            communicator, &mine, &window);
  MPI_Comm_set_errhandler(communicator, handler);
  MPI_Errhandler_free(&handler);
  if (error != MPI_SUCCESS)
    throw DeviceError(why_not_shared(my_bytes));
  MPI_Aint size = 0;
  int unit = 0;
  // The first rank with a part has the begin of the segment.
  MPI_Win_shared_query(window, MPI_PROC_NULL, &size, &unit, &base);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
}

NodeMemory::~NodeMemory()
{
  // After an error on one rank the others will not come here: freeing is collective and would hang.
  if (window == MPI_WIN_NULL || std::uncaught_exceptions() > 0)
    return;
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

void NodeMemory::synchronize() const
{
  MPI_Win_sync(window);
}
} // namespace femgpu::linalg
