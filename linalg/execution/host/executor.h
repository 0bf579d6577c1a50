#ifndef femgpu_linalg_execution_host_executor_h
#define femgpu_linalg_execution_host_executor_h

#include "linalg/memory/executor.h"

namespace femgpu::linalg
{
/// Runs steps (steps/steps.h) on the CPU cores of this host.
class HostExecutor final : public Executor
{
public:
  /// @param resources if resources.threads is 0, the executor uses n_loop_threads() threads
  explicit HostExecutor(const Resources &resources = {});

  BackendKind backend() const override
  {
    return BackendKind::host;
  }
  std::string name() const override
  {
    return "host";
  }
  std::string description() const override;
  void copy_from_host(void *to, const void *from, std::size_t bytes) const override;
  void copy_within(void *to, const void *from, std::size_t bytes) const override;
  void fill_zero(void *to, std::size_t bytes) const override;
  std::unique_ptr<ChunkStream> make_chunk_stream(const std::vector<std::size_t> &chunk_bytes,
                                                 int n_slots) const override;
  void run_steps(const std::function<void(StepRunner &)> &work) const override;
  void synchronize() const override
  {}

  unsigned int n_threads() const
  {
    return threads;
  }

protected:
  MemoryInfo memory_raw() const override;
  void *allocate_raw(std::size_t bytes) const override;
  void deallocate_raw(void *pointer) const noexcept override;
  void *allocate_on_host_raw(std::size_t bytes) const override
  {
    return allocate_raw(bytes);
  }
  void deallocate_on_host_raw(void *pointer) const noexcept override
  {
    deallocate_raw(pointer);
  }
  void copy_to_host_raw(void *to, const void *from, std::size_t bytes) const override;

private:
  unsigned int threads;
};
} // namespace femgpu::linalg

#endif
