#include "linalg/execution/cuda/peers/peer_ghosts.cuh"

#include "linalg/execution/cuda/runner.cuh"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

namespace femgpu::linalg::cuda
{
namespace
{
/// Runs one round of an exchange, unless the loop has ended.
/// @param loop state of the loop; nullptr: the exchange is not part of a loop
template <bool adds>
__global__ void __launch_bounds__(threads_per_block)
    exchange_with_peers(const PeerChannel channel, double *const v, const LoopState *const loop)
{
  if (loop == nullptr || loop->running)
    exchange_round<adds>(channel, v);
}

template <class T>
std::vector<T> joined(const std::vector<std::vector<T>> &lists)
{
  std::vector<T> all;
  for (const std::vector<T> &list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}
} // namespace

/// The entries that a kernel receives. Each entry belongs to a row of the vector, and is the sum of
/// one or more packets.
struct PeerGhosts::Entries
{
  std::vector<int> rows, offsets, order;

  /// Makes one entry from each packet. @param rows the row of each packet
  static Entries of_packets(std::vector<int> rows)
  {
    return {std::move(rows), {}, {}};
  }

  /// Makes one entry from all packets of a row, which are added in the order of the neighbours.
  /// @param rows the row of each packet
  static Entries of_rows(const std::vector<int> &rows)
  {
    Entries entries;
    entries.order.resize(rows.size());
    std::iota(entries.order.begin(), entries.order.end(), 0);
    const auto row = [&](const int packet) { return rows[static_cast<std::size_t>(packet)]; };
    if (!std::is_sorted(rows.begin(), rows.end()))
      std::stable_sort(entries.order.begin(), entries.order.end(),
                       [&](const int k, const int l) { return row(k) < row(l); });
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const int next = row(entries.order[k]);
      if (next >= 0 && !entries.rows.empty() && next == entries.rows.back())
        continue;
      entries.offsets.push_back(static_cast<int>(k));
      entries.rows.push_back(next);
    }
    entries.offsets.push_back(static_cast<int>(entries.order.size()));
    return entries;
  }
};

/// The rows of a vector that are sent to each neighbour and received from it; -1 for a packet
/// without a row, which only synchronises.
struct PeerGhosts::Direction
{
  std::vector<std::vector<int>> sent, received;

  void add(std::vector<int> to, std::vector<int> from)
  {
    for (std::vector<int> *const items : {&to, &from})
      if (items->empty())
        items->push_back(-1);
    sent.push_back(std::move(to));
    received.push_back(std::move(from));
  }
};

PeerGhosts::PeerGhosts(std::shared_ptr<const CudaExecutor> executor, const Communicator &comm,
                       PeerMemory &memory, const PeerSums &sums, const int n, const GhostPlan &plan)
    : executor(std::move(executor))
{
  Direction directions[2]; // directions of update_ghost_values() and of compress()
  int ghost = n;
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours) {
    std::vector<int> ghosts(static_cast<std::size_t>(neighbour.n_received));
    std::iota(ghosts.begin(), ghosts.end(), ghost);
    ghost += neighbour.n_received;
    directions[0].add(neighbour.sent_rows, ghosts);
    directions[1].add(std::move(ghosts), neighbour.sent_rows);
  }
  const std::vector<int> forward_rows = joined(directions[0].received),
                         back_rows = joined(directions[1].received);
  const std::size_t sizes[2] = {forward_rows.size(), back_rows.size()};
  region.emplace(memory.allocate(2 * (sizes[0] + sizes[1]) * sizeof(Packet)));

  // Sends each neighbour the offsets in this rank's memory where the neighbour must write its
  // packets of even and of odd rounds.
  ExchangeCounts items;
  std::vector<std::size_t> local_offsets;
  std::size_t offsets[2] = {0, 2 * sizes[0]};
  for (std::size_t k = 0; k < plan.neighbours.size(); ++k) {
    items.push_back({plan.neighbours[k].rank, 4, 4});
    for (const int direction : {0, 1}) {
      local_offsets.push_back(offsets[direction]);
      local_offsets.push_back(offsets[direction] + sizes[direction]);
      offsets[direction] += directions[direction].received[k].size();
    }
  }
  std::vector<std::size_t> remote_offsets(local_offsets.size());
  comm.exchange(items, sizeof(std::size_t), local_offsets.data(), remote_offsets.data());

  const auto targets_of = [&](const std::size_t direction) {
    std::vector<Packet *> targets;
    for (const std::size_t parity : {std::size_t{0}, std::size_t{1}})
      for (std::size_t k = 0; k < plan.neighbours.size(); ++k) {
        Packet *const first = reinterpret_cast<Packet *>(region->of_rank(plan.neighbours[k].rank)) +
                              remote_offsets[4 * k + 2 * direction + parity];
        for (std::size_t l = 0; l < directions[direction].sent[k].size(); ++l)
          targets.push_back(first + l);
      }
    return targets;
  };
  const auto *const packets = reinterpret_cast<const Packet *>(region->own());
  forward =
      make_channel(joined(directions[0].sent), targets_of(0), Entries::of_packets(forward_rows));
  forward.view.received = packets;
  const Entries border = Entries::of_rows(back_rows);
  back = make_channel(joined(directions[1].sent), targets_of(1), border);
  back.view.received = packets + 2 * sizes[0];
  for (Channel *const channel : {&forward, &back}) {
    channel->view.stride = channel == &forward ? sizes[0] : sizes[1];
    channel->view.counts = sums.counts;
  }
  make_loop(sums, border, targets_of(0));
}

/// Makes the data of resident loops (loops that are one kernel). These loops send the packets of
/// update_ghost_values() ordered by rows. compress() receives the same rows, so its lists are used.
/// @param border one entry for each row that is sent, which compress() receives
void PeerGhosts::make_loop(const PeerSums &sums, const Entries &border,
                           const std::vector<Packet *> &targets)
{
  const std::size_t n_packets = border.order.size();
  if (n_packets > PeerLoop::max_packets || sums.n_ranks > PeerLoop::max_ranks)
    return;
  std::vector<Packet *> by_rows;
  for (const std::size_t round : {std::size_t{0}, n_packets})
    for (const int packet : border.order)
      by_rows.push_back(targets[round + static_cast<std::size_t>(packet)]);
  targets_by_rows = Buffer<Packet *>(executor, by_rows.data(), by_rows.size());
  const PeerLoop view{sums,           forward.view,      back.view.n_entries,
                      back.view.rows, back.view.offsets, targets_by_rows.data()};
  loop = Buffer<PeerLoop>(executor, &view, 1);
}

PeerGhosts::Channel PeerGhosts::make_channel(const std::vector<int> &sources,
                                             const std::vector<Packet *> &targets,
                                             const Entries &entries) const
{
  const bool adds = !entries.order.empty();
  const std::size_t max_count = std::max(sources.size(), entries.rows.size());
  const int active_blocks = executor->kernels().max_active_blocks(
      address_of(adds ? exchange_with_peers<true> : exchange_with_peers<false>), threads_per_block);
  const std::size_t blocks =
      std::min<std::size_t>((max_count + threads_per_block - 1) / threads_per_block,
                            static_cast<std::size_t>(executor->n_multiprocessors()) *
                                static_cast<std::size_t>(active_blocks));
  const auto on_device = [&](const auto &values) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    return Buffer<Value>(executor, values.data(), values.size());
  };
  Channel channel{on_device(sources),         on_device(entries.rows),
                  on_device(entries.offsets), on_device(entries.order),
                  on_device(targets),         Buffer<unsigned int>(executor, blocks),
                  static_cast<int>(blocks)};
  channel.rounds.fill_zero();
  channel.view.n_sent = static_cast<int>(sources.size());
  channel.view.n_entries = static_cast<int>(entries.rows.size());
  channel.view.sources = channel.sources.data();
  channel.view.targets = channel.targets.data();
  channel.view.rows = channel.rows.data();
  channel.view.offsets = channel.offsets.data();
  channel.view.order = channel.order.data();
  channel.view.rounds = channel.rounds.data();
  channel.view.n_blocks = channel.blocks;
  return channel;
}

void PeerGhosts::run(const Channel &channel, const bool adds, StepRunner &runner,
                     double *const v) const
{
  const auto &on = static_cast<Runner<CudaBackend> &>(runner);
  launch(on.executor(), on.stream(), {static_cast<unsigned int>(channel.blocks), threads_per_block},
         adds ? exchange_with_peers<true> : exchange_with_peers<false>, channel.view, v,
         on.loop_state());
}

void PeerGhosts::update_ghost_values(StepRunner &runner, double *const v)
{
  run(forward, false, runner, v);
}

void PeerGhosts::compress(StepRunner &runner, double *const v)
{
  run(back, true, runner, v);
}
} // namespace femgpu::linalg::cuda
