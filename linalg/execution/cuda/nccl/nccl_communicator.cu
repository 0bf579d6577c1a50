#include "linalg/base/error.h"
#include "linalg/execution/cuda/device_communicator.h"
#include "linalg/execution/cuda/nccl/nccl_library.h"
#include "linalg/execution/cuda/step_gather.h"
#include "linalg/memory/buffer.h"

#include <exception>
#include <utility>

namespace femgpu::linalg
{
namespace cuda
{
namespace
{
/// Estimates the total time of pieces of work on a stream: every 16th piece is measured, and its
/// time counts 16 times. (The first piece, which connects the devices, is not measured.)
class SampledTime
{
public:
  SampledTime()
  {
    for (cudaEvent_t *const event : {&begin, &end})
      FEMGPU_CUDA(cudaEventCreate(event));
  }
  ~SampledTime()
  {
    for (const cudaEvent_t event : {begin, end})
      cudaEventDestroy(event);
  }
  SampledTime(const SampledTime &) = delete;
  SampledTime &operator=(const SampledTime &) = delete;

  template <class Work>
  void measure(const cudaStream_t stream, const Work &work)
  {
    if (++count % sampling_interval != 0)
      return work();
    add_last();
    FEMGPU_CUDA(cudaEventRecord(begin, stream));
    work();
    FEMGPU_CUDA(cudaEventRecord(end, stream));
    is_pending = true;
  }

  std::size_t n_pieces() const
  {
    return count;
  }
  double seconds()
  {
    add_last();
    return static_cast<double>(sampling_interval) * total;
  }

private:
  static constexpr std::size_t sampling_interval = 16;

  void add_last()
  {
    if (!is_pending)
      return;
    FEMGPU_CUDA(cudaEventSynchronize(end));
    float milliseconds = 0.F;
    FEMGPU_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
    total += 1e-3 * static_cast<double>(milliseconds);
    is_pending = false;
  }

  cudaEvent_t begin = nullptr, end = nullptr;
  std::size_t count = 0;
  bool is_pending = false;
  double total = 0.;
};

/// A group of NCCL calls. If an exception prevents the call of end(), the destructor closes the
/// group.
class NcclGroup
{
public:
  explicit NcclGroup(const NcclLibrary &nccl) : nccl(nccl)
  {
    nccl.check(nccl.group_start(), "ncclGroupStart");
  }
  ~NcclGroup()
  {
    if (is_open)
      nccl.group_end();
  }
  NcclGroup(const NcclGroup &) = delete;
  NcclGroup &operator=(const NcclGroup &) = delete;

  void end()
  {
    is_open = false; // even if the call fails
    nccl.check(nccl.group_end(), "ncclGroupEnd");
  }

private:
  const NcclLibrary &nccl;
  bool is_open = true;
};

/// Owns an NCCL communicator, and calls NCCL with it.
class NcclComm
{
public:
  /// Connects the devices of all ranks. Collective.
  /// @throws DeviceError if NCCL fails
  NcclComm(const Communicator &host, std::shared_ptr<const CudaExecutor> on)
      : executor(std::move(on)), nccl(NcclLibrary::get())
  {
    struct Id
    {
      ncclUniqueId id;
      ncclResult_t result = ncclSuccess;
    };
    executor->make_current();
    Id mine{};
    if (host.rank() == 0)
      mine.result = nccl.get_unique_id(&mine.id);
    std::vector<Id> all(static_cast<std::size_t>(host.n_ranks()));
    host.gather(&mine, sizeof(mine), all.data());
    nccl.check(all[0].result, "ncclGetUniqueId"); // throws on all ranks
    nccl.check(nccl.comm_init_rank(&comm, host.n_ranks(), all[0].id, host.rank()),
               "ncclCommInitRank");
  }
  /// Waits for the other ranks. If an exception is being handled or a call has failed, other ranks
  /// may never call their destructor; pending operations are then aborted without waiting.
  ~NcclComm()
  {
    cudaSetDevice(executor->device_number());
    if (std::uncaught_exceptions() > 0 || has_failed())
      nccl.comm_abort(comm);
    else
      nccl.comm_destroy(comm);
  }
  NcclComm(const NcclComm &) = delete;
  NcclComm &operator=(const NcclComm &) = delete;

  // The following operations run on the executor's stream.

  void gather(const void *mine, const std::size_t bytes, void *all) const
  {
    executor->make_current();
    nccl.check(nccl.all_gather(mine, all, bytes, ncclChar, comm, executor->stream()),
               "ncclAllGather");
    check_pending_operation();
  }

  void exchange(const ExchangeCounts &neighbours, const std::size_t bytes, const void *sent,
                void *received) const
  {
    executor->make_current();
    const cudaStream_t stream = executor->stream();
    const auto *from = static_cast<const char *>(sent);
    auto *to = static_cast<char *>(received);
    NcclGroup group(nccl);
    for (const NeighbourCounts &neighbour : neighbours) {
      const std::size_t n_sent = neighbour.n_sent * bytes,
                        n_received = neighbour.n_received * bytes;
      if (n_sent > 0)
        nccl.check(nccl.send(from, n_sent, ncclChar, neighbour.rank, comm, stream), "ncclSend");
      if (n_received > 0)
        nccl.check(nccl.receive(to, n_received, ncclChar, neighbour.rank, comm, stream),
                   "ncclRecv");
      from += n_sent;
      to += n_received;
    }
    group.end();
    check_pending_operation();
  }

private:
  static constexpr unsigned int calls_between_checks = 64; // so that checks do not slow down
                                                           // iterations

  bool has_failed() const
  {
    ncclResult_t async_result = ncclSuccess;
    return nccl.comm_get_async_error(comm, &async_result) != ncclSuccess ||
           (async_result != ncclSuccess && async_result != ncclInProgress);
  }
  /// Checks at intervals whether work on the device has failed, for example because a link or a
  /// rank was lost.
  void check_pending_operation() const
  {
    if (++n_calls % calls_between_checks != 0)
      return;
    ncclResult_t async_result = ncclSuccess;
    nccl.check(nccl.comm_get_async_error(comm, &async_result), "ncclCommGetAsyncError");
    if (async_result != ncclInProgress)
      nccl.check(async_result, "an exchange on the device");
  }

  std::shared_ptr<const CudaExecutor> executor;
  const NcclLibrary &nccl;
  ncclComm_t comm = nullptr;
  mutable unsigned int n_calls = 0;
};

class NcclGather final : public StepGather
{
public:
  NcclGather(std::shared_ptr<const CudaExecutor> executor, const NcclComm &comm, const int n_ranks)
      : executor(std::move(executor)), comm(comm), n_buffers(static_cast<std::size_t>(n_ranks) + 1)
  {}

  char *buffer(const std::size_t bytes) override
  {
    if (memory.size() < n_buffers * bytes)
      memory = Buffer<char>(executor, n_buffers * bytes);
    return memory.data();
  }
  void gather(const std::size_t bytes) override
  {
    time.measure(executor->stream(),
                 [&] { comm.gather(memory.data(), bytes, memory.data() + bytes); });
  }

  SampledTime time;

private:
  std::shared_ptr<const CudaExecutor> executor;
  const NcclComm &comm;
  std::size_t n_buffers;
  Buffer<char> memory;
};

/// Exchanges sums, ghosts and rows between devices by NCCL, on the executor's stream.
class NcclCommunicator final : public DeviceCommunicator
{
public:
  /// Connects the devices of all ranks. Collective. @throws DeviceError if NCCL fails
  NcclCommunicator(CommunicatorPtr host_communicator, std::shared_ptr<const CudaExecutor> on)
      : DeviceCommunicator(std::move(host_communicator), std::move(on)), comm(*host, executor),
        sums(executor, comm, host->n_ranks())
  {}

  std::string name() const override
  {
    return "nccl";
  }

  void do_exchange_on(const ExecutorPtr &item_executor, const ExchangeCounts &neighbours,
                      const std::size_t bytes, const void *sent, void *received) const override
  {
    if (item_executor != executor)
      return host->exchange_on(item_executor, neighbours, bytes, sent, received);
    exchange_time.measure(executor->stream(),
                          [&] { comm.exchange(neighbours, bytes, sent, received); });
    for (const NeighbourCounts &neighbour : neighbours)
      exchanged_bytes += neighbour.n_sent * bytes;
  }

  StepGather *step_gather() const override
  {
    return &sums;
  }

  Communication communication() const override
  {
    Communication result = host->communication();
    result.sums += sums.time.n_pieces();
    result.sum_seconds += sums.time.seconds();
    result.exchanges += exchange_time.n_pieces();
    result.exchanged_bytes += exchanged_bytes;
    result.exchange_seconds += exchange_time.seconds();
    return result;
  }

private:
  NcclComm comm;
  mutable NcclGather sums;
  mutable std::size_t exchanged_bytes = 0;
  mutable SampledTime exchange_time;
};
} // namespace
} // namespace cuda

DeviceConnection make_nccl_communicator(const CommunicatorPtr &comm, const ExecutorPtr &executor)
{
  const auto on = std::static_pointer_cast<const CudaExecutor>(executor);
  if (cuda::ranks_share_device(*comm, *on))
    return {nullptr, "two solver groups share a GPU."};
  // Creating a communicator waits for all ranks, so first make sure that all of them have the
  // library.
  DeviceConnection result = cuda::on_all_or_none(*comm, [&] {
    cuda::NcclLibrary::get();
    return comm;
  });
  if (result.communicator)
    result = cuda::on_all_or_none(*comm, [&]() -> CommunicatorPtr {
      return std::make_shared<cuda::NcclCommunicator>(comm, on);
    });
  return result;
}
} // namespace femgpu::linalg
