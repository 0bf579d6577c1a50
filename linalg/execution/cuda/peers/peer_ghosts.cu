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
/// @param loop nullptr: there is none
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

/// The entries that a kernel receives. Each belongs to a row of the vector, and is a sum of
/// packets.
struct PeerGhosts::Entries
{
  std::vector<int> rows, begins, order;

  /// Makes one entry of each packet. @param rows of the packets
  static Entries of_packets(std::vector<int> rows)
  {
    return {std::move(rows), {}, {}};
  }

  /// Makes one entry of all packets of a row, in the order of the neighbours.
  static Entries of_rows(const std::vector<int> &rows)
  {
    Entries entries;
    entries.order.resize(rows.size());
    std::iota(entries.order.begin(), entries.order.end(), 0);
    const auto row = [&](const int packet) { return rows[static_cast<std::size_t>(packet)]; };
    std::stable_sort(entries.order.begin(), entries.order.end(),
                     [&](const int k, const int l) { return row(k) < row(l); });
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const int next = row(entries.order[k]);
      if (next >= 0 && !entries.rows.empty() && next == entries.rows.back())
        continue;
      entries.begins.push_back(static_cast<int>(k));
      entries.rows.push_back(next);
    }
    entries.begins.push_back(static_cast<int>(entries.order.size()));
    return entries;
  }
};

/// The rows of a vector that are sent to each neighbour and received from it; -1 for a packet
/// without a row, which only synchronises.
struct PeerGhosts::Way
{
  std::vector<std::vector<int>> sent, received;

  void add(std::vector<int> to, std::vector<int> from)
  {
    for (std::vector<int> *const places : {&to, &from})
      if (places->empty())
        places->push_back(-1);
    sent.push_back(std::move(to));
    received.push_back(std::move(from));
  }
};

PeerGhosts::PeerGhosts(std::shared_ptr<const CudaExecutor> executor, const Communicator &parts,
                       PeerMemory &memory, const PeerSums &sums, const int n, const GhostPlan &plan)
    : executor(std::move(executor))
{
  Way ways[2]; // forth and back
  int ghost = n;
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours) {
    std::vector<int> ghosts(static_cast<std::size_t>(neighbour.n_received));
    std::iota(ghosts.begin(), ghosts.end(), ghost);
    ghost += neighbour.n_received;
    ways[0].add(neighbour.sent_rows, ghosts);
    ways[1].add(std::move(ghosts), neighbour.sent_rows);
  }
  const std::vector<int> forth_rows = joined(ways[0].received),
                         back_rows = joined(ways[1].received);
  const std::size_t sizes[2] = {forth_rows.size(), back_rows.size()};
  region.emplace(memory.allocate(2 * (sizes[0] + sizes[1]) * sizeof(Packet)));

  // Each neighbour receives the offsets of its packets of even and of odd rounds in the memory
  // here.
  ExchangeCounts places;
  std::vector<std::size_t> places_here;
  std::size_t begins[2] = {0, 2 * sizes[0]};
  for (std::size_t k = 0; k < plan.neighbours.size(); ++k) {
    places.push_back({plan.neighbours[k].part, 4, 4});
    for (const int way : {0, 1}) {
      places_here.push_back(begins[way]);
      places_here.push_back(begins[way] + sizes[way]);
      begins[way] += ways[way].received[k].size();
    }
  }
  std::vector<std::size_t> places_there(places_here.size());
  parts.exchange(places, sizeof(std::size_t), places_here.data(), places_there.data());

  const auto targets_of = [&](const std::size_t way) {
    std::vector<Packet *> targets;
    for (const std::size_t parity : {std::size_t{0}, std::size_t{1}})
      for (std::size_t k = 0; k < plan.neighbours.size(); ++k) {
        Packet *const first = reinterpret_cast<Packet *>(region->of_part(plan.neighbours[k].part)) +
                              places_there[4 * k + 2 * way + parity];
        for (std::size_t l = 0; l < ways[way].sent[k].size(); ++l)
          targets.push_back(first + l);
      }
    return targets;
  };
  const auto *const packets = reinterpret_cast<const Packet *>(region->own());
  forth = make_channel(joined(ways[0].sent), targets_of(0), Entries::of_packets(forth_rows));
  forth.view.received = packets;
  back = make_channel(joined(ways[1].sent), targets_of(1), Entries::of_rows(back_rows));
  back.view.received = packets + 2 * sizes[0];
  for (Channel *const channel : {&forth, &back}) {
    channel->view.stride = channel == &forth ? sizes[0] : sizes[1];
    channel->view.counts = sums.counts;
  }
  make_loop(sums, back_rows, targets_of(0));
}

/// Makes the loop's view. The packets of bring() are those of give_back() in the opposite
/// direction, ordered by rows.
void PeerGhosts::make_loop(const PeerSums &sums, const std::vector<int> &sent_rows,
                           const std::vector<Packet *> &targets)
{
  if (sent_rows.size() > PeerLoop::most_packets || sums.n_parts > PeerLoop::most_parts)
    return;
  const Entries border = Entries::of_rows(sent_rows);
  std::vector<Packet *> by_rows;
  for (const std::size_t round : {std::size_t{0}, sent_rows.size()})
    for (const int packet : border.order)
      by_rows.push_back(targets[round + static_cast<std::size_t>(packet)]);
  targets_by_rows = Buffer<Packet *>(executor, by_rows.data(), by_rows.size());
  const PeerLoop view{sums,           forth.view,       back.view.n_entries,
                      back.view.rows, back.view.begins, targets_by_rows.data()};
  loop = Buffer<PeerLoop>(executor, &view, 1);
}

PeerGhosts::Channel PeerGhosts::make_channel(const std::vector<int> &sources,
                                             const std::vector<Packet *> &targets,
                                             const Entries &entries) const
{
  const bool adds = !entries.order.empty();
  const std::size_t most = std::max(sources.size(), entries.rows.size());
  const int at_once = executor->kernels().blocks_at_once(
      address_of(adds ? exchange_with_peers<true> : exchange_with_peers<false>), threads_per_block);
  const std::size_t blocks = std::min<std::size_t>(
      (most + threads_per_block - 1) / threads_per_block,
      static_cast<std::size_t>(executor->n_multiprocessors()) * static_cast<std::size_t>(at_once));
  const auto on_device = [&](const auto &values) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    return Buffer<Value>(executor, values.data(), values.size());
  };
  Channel channel{on_device(sources),        on_device(entries.rows),
                  on_device(entries.begins), on_device(entries.order),
                  on_device(targets),        Buffer<unsigned int>(executor, blocks),
                  static_cast<int>(blocks)};
  channel.rounds.fill_zero();
  channel.view.n_sent = static_cast<int>(sources.size());
  channel.view.n_entries = static_cast<int>(entries.rows.size());
  channel.view.sources = channel.sources.data();
  channel.view.targets = channel.targets.data();
  channel.view.rows = channel.rows.data();
  channel.view.begins = channel.begins.data();
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

void PeerGhosts::bring(StepRunner &runner, double *const v)
{
  run(forth, false, runner, v);
}

void PeerGhosts::give_back(StepRunner &runner, double *const v)
{
  run(back, true, runner, v);
}
} // namespace femgpu::linalg::cuda
