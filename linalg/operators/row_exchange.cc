#include "linalg/operators/row_exchange.h"

#include <numeric>

namespace femgpu::linalg
{
RowExchange::RowExchange(const Communicator &parts, const GhostPlan &plan,
                         const std::vector<int> &lengths)
    : parts(parts)
{
  std::size_t n_rows = 0;
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours)
    n_rows += static_cast<std::size_t>(neighbour.n_received);
  const std::vector<double> sent(lengths.begin(), lengths.end());
  std::vector<double> received(n_rows);
  parts.exchange(plan, sent.data(), received.data());
  received_lengths.assign(received.begin(), received.end());

  auto sent_length = lengths.begin();
  auto received_length = received_lengths.cbegin();
  for (const GhostPlan::Neighbour &neighbour : plan.neighbours) {
    const auto sent_end = sent_length + static_cast<std::ptrdiff_t>(neighbour.sent_rows.size());
    const auto received_end = received_length + neighbour.n_received;
    entries.neighbours.push_back(
        {neighbour.part, std::vector<int>(std::accumulate(sent_length, sent_end, std::size_t{0})),
         std::accumulate(received_length, received_end, 0)});
    n_received += static_cast<std::size_t>(entries.neighbours.back().n_received);
    sent_length = sent_end;
    received_length = received_end;
  }
}

std::vector<double> RowExchange::exchange(const std::vector<double> &sent) const
{
  std::vector<double> received(n_received);
  parts.exchange(entries, sent.data(), received.data());
  return received;
}
} // namespace femgpu::linalg
