#include "linalg/dealii/node_memory.h"

#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/base/parallel.h"
#include "linalg/mpi/nodes.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace femgpu::linalg
{
namespace
{
/// Returns the end of each rank's pages in bytes. A page that several ranks use belongs to the
/// first of these ranks.
std::vector<std::size_t> page_ends(MPI_Comm communicator, const std::size_t my_bytes)
{
  int n_ranks = 1;
  MPI_Comm_size(communicator, &n_ranks);
  std::vector<std::size_t> ends(n_ranks);
  MPI_Allgather(&my_bytes, sizeof(my_bytes), MPI_BYTE, ends.data(), sizeof(my_bytes), MPI_BYTE,
                communicator);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::size_t end = 0;
  for (std::size_t &rank_end : ends) {
    end += rank_end;
    rank_end = (end + page - 1) / page * page;
  }
  return ends;
}

/// A file in memory, which other processes can open as /proc/<process>/fd/<descriptor>.
struct File
{
  int process, descriptor, error; ///< without a file: descriptor is -1 and error is not 0
  dev_t device;
  ino_t inode;
};

File make_file(const std::size_t bytes)
{
  File file = {::getpid(), ::memfd_create("femgpu", MFD_CLOEXEC), 0, 0, 0};
  struct stat status = {};
  if (file.descriptor < 0 || ::ftruncate(file.descriptor, static_cast<off_t>(bytes)) != 0 ||
      ::fstat(file.descriptor, &status) != 0)
    file.error = errno;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  return file;
}

/// Maps the file of another process at @p address. Returns an error number, or 0.
int map_file(const File &file, char *const address, const std::size_t bytes)
{
  if (file.error != 0)
    return file.error;
  const std::string path =
      "/proc/" + std::to_string(file.process) + "/fd/" + std::to_string(file.descriptor);
  const int mine = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (mine < 0)
    return errno;
  struct stat status = {};
  const bool is_known = ::fstat(mine, &status) == 0;
  int error = 0;
  if (is_known && (status.st_dev != file.device || status.st_ino != file.inode))
    error = ESRCH; // in another container the number denotes a different process
  else if (!is_known || ::mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, mine,
                               0) == MAP_FAILED)
    error = errno;
  ::madvise(address, bytes,
            MADV_SEQUENTIAL); // otherwise, unmapping marks each page as recently used
  ::close(mine);
  return error;
}

/// Allocates the pages of a file that is mapped at @p address, faster than page faults would. If
/// the system does not support this, page faults allocate the pages later. Returns ENOMEM if memory
/// is exhausted, otherwise 0.
int allocate_pages(const int file, char *const address, const std::size_t bytes)
{
  if (bytes == 0)
    return 0;
  if (::fallocate(file, 0, 0, static_cast<off_t>(bytes)) != 0)
    return errno == ENOSPC || errno == ENOMEM ? ENOMEM : 0;
  ::madvise(address, bytes, MADV_POPULATE_WRITE);
  return 0;
}

/// Maps the pages of all ranks, a file each, at @p base. Collective.
/// @return the maximum error number of all ranks, or 0
int map_all_pages(MPI_Comm communicator, char *const base, const std::vector<std::size_t> &ends)
{
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const auto begin = [&](const std::size_t k) { return k > 0 ? ends[k - 1] : 0; };
  const File mine = make_file(ends[rank] - begin(rank));
  std::vector<File> files(ends.size());
  MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, files.data(), sizeof(mine), MPI_BYTE, communicator);
  int error =
      base == nullptr || static_cast<double>(ends.back()) > host_memory().bytes ? ENOMEM : 0;
  for (std::size_t k = 0; k < files.size() && error == 0; ++k)
    if (ends[k] > begin(k))
      error = map_file(files[k], base + begin(k), ends[k] - begin(k));
  if (error == 0)
    error = allocate_pages(mine.descriptor, base + begin(rank), ends[rank] - begin(rank));
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX, communicator);
  if (mine.descriptor >= 0)
    ::close(mine.descriptor);
  return error;
}

/// Allocates pages for a single process. Returns an error number, or 0.
int allocate_private(char *const base, const std::size_t bytes)
{
  if (base == nullptr || ::mprotect(base, bytes, PROT_READ | PROT_WRITE) != 0)
    return ENOMEM;
  ::madvise(base, bytes, MADV_HUGEPAGE); // if the system supports huge pages
  return 0;
}

std::string why_unavailable(const std::size_t bytes, const int error)
{
  const std::string amount = " " + std::to_string(bytes >> 20) + " MiB of the system";
  if (error == ENOMEM)
    return "The host does not have enough memory for" + amount + ": " + host_memory().bound +
           ". Refine less, or use nodes with more memory.";
  return "The ranks of a node cannot share" + amount + ": " +
         std::generic_category().message(error) +
         ". Run them as one user and in one PID namespace, so that they see each other in /proc, "
         "or use one rank.";
}
} // namespace

NodeMemory::NodeMemory(MPI_Comm communicator, const std::size_t my_bytes)
    : communicator(communicator)
{
  const std::vector<std::size_t> ends = page_ends(communicator, my_bytes);
  end = ends.back();
  if (end == 0)
    return;
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  mine = rank > 0 ? ends[rank - 1] : 0;
  others = ends[rank];
  void *const addresses = ::mmap(nullptr, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  base = addresses == MAP_FAILED ? nullptr : static_cast<char *>(addresses);
  const int error =
      ends.size() > 1 ? map_all_pages(communicator, base, ends) : allocate_private(base, end);
  if (error == 0)
    return;
  unmap(0, end);
  throw DeviceError(why_unavailable(end, error));
}

NodeMemory::~NodeMemory()
{
  if (base == nullptr)
    return;
  release_pages(0, mine);
  release_pages(others, end);
  // The rank that unmaps a page last frees it; so every rank frees its own pages, and all ranks do
  // so at the same time. After an error on one rank, the others do not get here.
  if (std::uncaught_exceptions() == 0)
    sleeping_barrier(communicator);
  unmap(mine, others);
}

void NodeMemory::release_pages(const std::size_t first, const std::size_t last) noexcept
{
  constexpr std::size_t at_once = std::size_t{1} << 24;
  const std::size_t n = (last - first + at_once - 1) / at_once;
  parallel_for_dynamic(n, std::size_t(1), [&](const std::size_t k, int /* thread */) {
    const std::size_t begin = first + k * at_once;
    ::madvise(base + begin, std::min(at_once, last - begin), MADV_DONTNEED);
  });
  unmap(first, last);
}

void NodeMemory::unmap(const std::size_t first, const std::size_t last) noexcept
{
  if (base != nullptr && first < last)
    ::munmap(base + first, last - first);
}

void NodeMemory::synchronize(MPI_Comm communicator)
{
  std::atomic_thread_fence(std::memory_order_seq_cst);
  MPI_Barrier(communicator);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
} // namespace femgpu::linalg
