#ifndef femgpu_linalg_operators_communicator_h
#define femgpu_linalg_operators_communicator_h

#include "linalg/base/error.h"
#include "linalg/memory/executor.h"

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
class GhostExchange;
namespace cuda
{
struct PeerLoop;
struct PeerSums;
class StepGather;
} // namespace cuda

/// Items that go to another part, and that come from it.
struct NeighbourCounts
{
  int part;
  std::size_t n_sent, n_received;
};

/// Parts ascend; items lie in their order.
using ExchangeCounts = std::vector<NeighbourCounts>;

/// The way back.
ExchangeCounts reversed(ExchangeCounts counts);

/// What a part of a distributed vector sends and gets so that its ghosts have values.
struct GhostPlan
{
  struct Neighbour
  {
    int part;
    std::vector<int> sent_rows; ///< own rows that it has as ghosts
    int n_received;             ///< ghosts that are rows of its own
  };
  std::vector<Neighbour> neighbours; ///< parts ascend; ghosts lie in this order
  std::vector<long long> numbers;    ///< global ones of the ghosts, which ascend

  int n_ghosts() const
  {
    return static_cast<int>(numbers.size());
  }
  /// Of all neighbours, one after the other.
  std::vector<int> sent_rows() const;
  ExchangeCounts counts() const;
};

/// What parts have told each other.
struct Communication
{
  std::size_t sums = 0;                           ///< of some numbers each, and maxima
  std::size_t exchanges = 0;                      ///< of ghosts, or of rows along the border
  std::size_t exchanged_bytes = 0;                ///< that the part has sent in them
  double sum_seconds = 0., exchange_seconds = 0.; ///< with waiting for the others

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...communications)
  {
    f("sums", communications.sums...);
    f("exchanges", communications.exchanges...);
    f("exchanged_bytes", communications.exchanged_bytes...);
    f("sum_seconds", communications.sum_seconds...);
    f("exchange_seconds", communications.exchange_seconds...);
  }

  Communication operator-(const Communication &before) const
  {
    Communication result = *this;
    for_each_member([](const char *, auto &now, const auto &then) { now -= then; }, result, before);
    return result;
  }
};

/**
 * How the parts of distributed vectors speak with each other. Each part is the work of a thread or
 * process of its own; all call the same functions in the same order, and wait there for each other.
 */
class Communicator
{
public:
  virtual ~Communicator() = default;

  /// As users write it.
  virtual std::string name() const = 0;

  virtual int n_parts() const = 0;
  virtual int part() const = 0; ///< the caller's number

  /// Gives all parts the @p bytes that each of them has, in their order. All memory is the host's.
  void gather(const void *mine, const std::size_t bytes, void *all) const
  {
    agree();
    do_gather(mine, bytes, all);
  }

  /// Tells the others which of their rows are ghosts here. @param ghosts global numbers, ascending
  /// @param starts first row of each part, and the number of rows
  GhostPlan plan(std::vector<long long> ghosts, const std::vector<long long> &starts) const
  {
    agree();
    return do_plan(std::move(ghosts), starts);
  }

  /// Sends items of so many @p bytes to neighbours. All memory is the host's.
  /// @param sent those for one neighbour after the other; @p received likewise
  void exchange(const ExchangeCounts &counts, const std::size_t bytes, const void *sent,
                void *received) const
  {
    agree();
    do_exchange(counts, bytes, sent, received);
  }

  /// Does the same in the memory of @p executor, in order with its steps.
  void exchange_on(const ExecutorPtr &executor, const ExchangeCounts &counts,
                   const std::size_t bytes, const void *sent, void *received) const
  {
    agree();
    do_exchange_on(executor, counts, bytes, sent, received);
  }

  /**
   * Runs @p work, which calls the functions above on all parts alike. If it throws on any part, all
   * parts throw the error of the first part that has failed, with the type of its exit code. In
   * @p work each of these calls begins with an agreement that no part has failed so far, so that
   * none waits for a part that does not come. The agreement costs one gather(). Sums and ghosts
   * that kernels exchange by themselves have none. Is called by all parts.
   */
  void rethrow_on_all_parts(const std::function<void()> &work) const;

  /// Replaces @p n numbers in host memory by their sums over the parts, added in the parts' order:
  /// all get the same bits.
  void sum(double *values, int n) const;

  /// The largest of the parts' values.
  double max(double value) const;

  /// How vectors on @p executor with @p n own rows get their ghosts; here by exchange_on(). Is
  /// called by all parts.
  virtual std::unique_ptr<GhostExchange> ghost_exchange(const ExecutorPtr &executor, int n,
                                                        const GhostPlan &plan) const;

  /// What kernels on the parts' devices add up sums with by themselves, and then exchange ghosts
  /// too; nullptr: they do not.
  virtual const cuda::PeerSums *peer_sums() const
  {
    return nullptr;
  }
  /// Else: what brings the sums of steps from device to device; nullptr: they pass through the
  /// host.
  virtual cuda::StepGather *step_gather() const
  {
    return nullptr;
  }

  /// Since it was made; nothing where nobody counts.
  virtual Communication communication() const
  {
    return {};
  }

private:
  virtual void do_gather(const void *mine, std::size_t bytes, void *all) const = 0;
  virtual GhostPlan do_plan(std::vector<long long> ghosts,
                            const std::vector<long long> &starts) const = 0;
  virtual void do_exchange(const ExchangeCounts &counts, std::size_t bytes, const void *sent,
                           void *received) const = 0;
  /// Passes through the host unless a communicator has another way.
  virtual void do_exchange_on(const ExecutorPtr &executor, const ExchangeCounts &counts,
                              std::size_t bytes, const void *sent, void *received) const;

  /// Throws the first error that any part has, inside rethrow_on_all_parts().
  void agree() const
  {
    if (n_nested > 0)
      agree_on(nullptr);
  }
  void agree_on(const Error *mine) const;
  void send_unless_agreed(const Error &error) const;

  mutable int n_nested = 0;                                 // calls of rethrow_on_all_parts()
  mutable std::exception_ptr agreed;                        // what all parts have thrown last
  mutable std::vector<char> sent_on_host, received_on_host; // of one exchange_on() at a time
};

using CommunicatorPtr = std::shared_ptr<const Communicator>;

/// Runs @p work as Communicator::rethrow_on_all_parts(); by itself if there is one part.
/// @param parts nullptr: there is one part
template <class Work>
void rethrow_on_all_parts(const Communicator *const parts, const Work &work)
{
  if (parts == nullptr)
    work();
  else
    parts->rethrow_on_all_parts(work);
}

/// Parts whose devices speak with each other.
struct DeviceParts
{
  CommunicatorPtr communicator; ///< nullptr: they cannot
  std::string failure;          ///< why
};

/**
 * Lets kernels on the devices of @p parts, which are processes of one host, add up sums and
 * exchange ghosts by themselves. Is called by all parts, of which all or none get a communicator.
 * @param executor of this part, on a CUDA device
 * @param may_share_a_device parts that share one can, too, but wait long for each other
 */
DeviceParts with_peers(const CommunicatorPtr &parts, const ExecutorPtr &executor,
                       bool may_share_a_device);

/// Lets NCCL bring sums of steps, ghosts and rows from device to device, where @p parts are on
/// devices of any hosts, each on its own; likewise.
DeviceParts with_nccl(const CommunicatorPtr &parts, const ExecutorPtr &executor);
} // namespace femgpu::linalg

#endif
