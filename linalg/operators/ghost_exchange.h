#ifndef femgpu_linalg_operators_ghost_exchange_h
#define femgpu_linalg_operators_ghost_exchange_h

#include "linalg/memory/buffer.h"
#include "linalg/operators/communicator.h"

namespace femgpu::linalg
{
class StepRunner;

/// Exchanges the ghosts of vectors according to one GhostPlan, one vector at a time. All functions
/// are collective.
class GhostExchange
{
public:
  virtual ~GhostExchange() = default;

  /// Copies the values of the ghosts of @p v, which follow its owned rows, from the ranks that own
  /// them, after the steps that @p runner has launched.
  virtual void update_ghost_values(StepRunner &runner, double *v) = 0;

  /// Adds the ghosts of @p v to the corresponding rows on the ranks that own them, in rank order,
  /// after the steps that @p runner has launched.
  virtual void compress(StepRunner &runner, double *v) = 0;

  /// Returns the memory through which loops that run as one kernel per device exchange ghosts and
  /// sums; nullptr if such loops are not supported.
  virtual const cuda::PeerLoop *peer_loop() const
  {
    return nullptr;
  }
};

/// Packs values in the executor's memory and sends them with Communicator::exchange_on(). Also
/// exchanges several vectors at once, whose values in a row are stored next to each other.
class PackedExchange final : public GhostExchange
{
public:
  /// @param n number of owned rows
  /// @param comm must outlive this object
  /// @param width number of values per row
  PackedExchange(const Communicator &comm, ExecutorPtr executor, int n, const GhostPlan &plan,
                 int width = 1);

  void update_ghost_values(StepRunner &runner, double *v) override;
  void compress(StepRunner &runner, double *v) override;

private:
  const Communicator &comm;
  ExecutorPtr owner;
  std::size_t n_own;
  int width;
  ExchangeCounts counts;
  Buffer<int> sent_rows;
  Buffer<double> packed;
};
} // namespace femgpu::linalg

#endif
