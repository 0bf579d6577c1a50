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

/// The numbers of items, such as values or rows, that are sent to a neighbour and received from it.
struct NeighbourCounts
{
  int rank;
  std::size_t n_sent, n_received;
};

/// The counts for all neighbours, sorted by rank. Arrays of exchanged items are in this order, too.
using ExchangeCounts = std::vector<NeighbourCounts>;

/// Returns @p counts with n_sent and n_received swapped, for an exchange in the opposite direction.
ExchangeCounts reversed(ExchangeCounts counts);

/// The rows that a rank sends and the ghosts that it receives to update distributed vectors.
struct GhostPlan
{
  struct Neighbour
  {
    int rank;
    std::vector<int> sent_rows; ///< owned rows that are ghosts of the neighbour
    int n_received;             ///< number of this rank's ghosts that the neighbour owns
  };
  std::vector<Neighbour> neighbours; ///< sorted by rank; ghosts are stored in this order
  std::vector<long long> numbers;    ///< global numbers of the ghosts, in ascending order

  int n_ghosts() const
  {
    return static_cast<int>(numbers.size());
  }
  /// Returns the rows that are sent, one neighbour after the other.
  std::vector<int> sent_rows() const;
  ExchangeCounts counts() const;
};

/// Counts and times of the communication between ranks.
struct Communication
{
  std::size_t sums = 0; ///< number of reductions over ranks: sums of one or more numbers, maxima
  std::size_t exchanges = 0; ///< number of exchanges with neighbours, of ghosts or matrix rows
  std::size_t exchanged_bytes = 0;                ///< bytes that this rank has sent in exchanges
  double sum_seconds = 0., exchange_seconds = 0.; ///< both include the wait for other ranks

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
 * Communication between the ranks of distributed vectors. Each rank is run by a thread or process.
 * The functions are collective: all ranks call the same functions in the same order, and wait for
 * each other.
 */
class Communicator
{
public:
  virtual ~Communicator() = default;

  /// The name of the communicator, as users write it.
  virtual std::string name() const = 0;

  virtual int n_ranks() const = 0;
  virtual int rank() const = 0; ///< rank of the caller

  /// Copies the memory at @p mine, of size @p bytes, from every rank to @p all on all ranks, in
  /// rank order. All memory is host memory.
  void gather(const void *mine, const std::size_t bytes, void *all) const
  {
    throw_remote_errors();
    do_gather(mine, bytes, all);
  }

  /// Determines from the ghosts that each rank needs which rows the ranks exchange.
  /// @param ghosts global numbers of the ghosts of this rank, in ascending order
  /// @param starts first row of each rank, then the number of rows of all ranks
  GhostPlan plan(std::vector<long long> ghosts, const std::vector<long long> &starts) const
  {
    throw_remote_errors();
    return do_plan(std::move(ghosts), starts);
  }

  /// Exchanges items of size @p bytes with the neighbours. All memory is host memory.
  /// @param sent items for one neighbour after the other
  /// @param received memory for the items from one neighbour after the other
  void exchange(const ExchangeCounts &counts, const std::size_t bytes, const void *sent,
                void *received) const
  {
    throw_remote_errors();
    do_exchange(counts, bytes, sent, received);
  }

  /// Exchanges items of size @p bytes with the neighbours, after all steps launched so far. Unlike
  /// with exchange(), all memory is memory of @p executor.
  void exchange_on(const ExecutorPtr &executor, const ExchangeCounts &counts,
                   const std::size_t bytes, const void *sent, void *received) const
  {
    throw_remote_errors();
    do_exchange_on(executor, counts, bytes, sent, received);
  }

  /**
   * Runs @p work, which must call the functions above in the same order on all ranks. If @p work
   * throws on any rank, all ranks throw the error of the lowest rank that has failed; the exit code
   * of this error determines its type. Within @p work, each call of the functions above first
   * checks that no rank has failed, so that no rank waits for a call that a failed rank never
   * makes. The check costs one gather(). Kernels that exchange data directly do not check.
   * Collective.
   */
  void rethrow_on_all_ranks(const std::function<void()> &work) const;

  /// Replaces the @p n numbers at @p values, in host memory, by their sums over the ranks. They are
  /// added in rank order, so that the results are bitwise identical on all ranks.
  void sum(double *values, int n) const;

  /// Returns the maximum of @p value over the ranks.
  double max(double value) const;

  /// Makes the object that exchanges the ghosts of vectors on @p executor with @p n owned rows.
  /// The default implementation uses exchange_on(). Collective.
  virtual std::unique_ptr<GhostExchange> ghost_exchange(const ExecutorPtr &executor, int n,
                                                        const GhostPlan &plan) const;

  /// Returns the memory through which kernels on the ranks' devices compute sums over the ranks and
  /// exchange ghosts directly; nullptr if kernels do neither.
  virtual const cuda::PeerSums *peer_sums() const
  {
    return nullptr;
  }
  /// Returns the object that gathers the ranks' sums on the devices if there are no peer_sums();
  /// nullptr if the host adds up the ranks' sums.
  virtual cuda::StepGather *step_gather() const
  {
    return nullptr;
  }

  /// Returns counts and times of the communication since construction; zeros if this class does not
  /// record them.
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
  /// Exchanges through the host unless overridden.
  virtual void do_exchange_on(const ExecutorPtr &executor, const ExchangeCounts &counts,
                              std::size_t bytes, const void *sent, void *received) const;

  /// Inside rethrow_on_all_ranks(), throws the error of the lowest rank that has failed, if any
  /// rank has. Outside, does nothing.
  void throw_remote_errors() const
  {
    if (n_nested > 0)
      exchange_errors(nullptr);
  }
  void exchange_errors(const Error *mine) const;
  void send_unless_rethrown(const Error &error) const;

  mutable int n_nested = 0;                                 // depth of rethrow_on_all_ranks()
  mutable std::exception_ptr rethrown;                      // the last error thrown on all ranks
  mutable std::vector<char> sent_on_host, received_on_host; // used by one exchange_on() at a time
};

using CommunicatorPtr = std::shared_ptr<const Communicator>;

/// Runs @p work with Communicator::rethrow_on_all_ranks(), or directly if there is only one rank.
/// @param comm nullptr: there is one rank
template <class Work>
void rethrow_on_all_ranks(const Communicator *const comm, const Work &work)
{
  if (comm == nullptr)
    work();
  else
    comm->rethrow_on_all_ranks(work);
}

/// The result of connecting the devices of all ranks.
struct DeviceConnection
{
  CommunicatorPtr communicator; ///< nullptr: the devices cannot communicate directly
  std::string failure;          ///< the reason if `communicator` is nullptr
};

/**
 * Makes a communicator with which kernels on the devices of the ranks of @p comm compute sums and
 * exchange ghosts directly. The ranks must be processes on one host. Collective; either all ranks
 * get a communicator or none.
 * @param executor this rank's executor, on a CUDA device
 * @param allow_shared_device whether ranks may share a device; they then wait long for each other
 */
DeviceConnection make_peer_communicator(const CommunicatorPtr &comm, const ExecutorPtr &executor,
                                        bool allow_shared_device);

/// Makes a communicator that uses NCCL to exchange sums, ghosts and rows between devices. The
/// devices may be on different hosts, but each rank needs its own device. Collective; either all
/// ranks get a communicator or none.
DeviceConnection make_nccl_communicator(const CommunicatorPtr &comm, const ExecutorPtr &executor);
} // namespace femgpu::linalg

#endif
