#ifndef femgpu_linalg_operators_ghost_exchange_h
#define femgpu_linalg_operators_ghost_exchange_h

#include "linalg/memory/buffer.h"
#include "linalg/operators/communicator.h"

namespace femgpu::linalg
{
class StepRunner;

/// How vectors of one plan get the values of their ghosts; one vector at a time. All parts make the
/// same calls.
class GhostExchange
{
public:
  virtual ~GhostExchange() = default;

  /// Gives the ghosts of @p v, behind its own rows, the values that their owners have, in order
  /// with the steps of @p runner.
  virtual void bring(StepRunner &runner, double *v) = 0;

  /// Adds the ghosts of @p v to the rows of their owners, in the parts' order, likewise.
  virtual void give_back(StepRunner &runner, double *v) = 0;

  /// How loops that are one kernel on each device exchange ghosts and sums; nullptr: they do not.
  virtual const cuda::PeerLoop *peer_loop() const
  {
    return nullptr;
  }
};

/// Values are packed where the vectors are, and go as the communicator brings them.
class PackedExchange final : public GhostExchange
{
public:
  /// @param n own rows. @p parts outlives it
  PackedExchange(const Communicator &parts, ExecutorPtr executor, int n, const GhostPlan &plan);

  void bring(StepRunner &runner, double *v) override;
  void give_back(StepRunner &runner, double *v) override;

private:
  const Communicator &parts;
  ExecutorPtr owner;
  std::size_t n_own;
  ExchangeCounts counts;
  Buffer<int> sent_rows;
  Buffer<double> packed;
};
} // namespace femgpu::linalg

#endif
