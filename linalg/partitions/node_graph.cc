#include "linalg/partitions/partition.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"

#include <algorithm>
#include <string>

namespace femgpu::linalg
{
namespace
{
/// Calls f(node of the row, node of the column) for the entries of A that connect two nodes.
template <class Function>
void for_connections(const HostCsr &A, const int node_size, const Function &f)
{
  for (int i = 0; i < A.n; ++i) {
    const int node = i / node_size;
    const RowEntries<double> row = A.entries(i);
    for (int k = 0, before = -1; k < row.length; ++k) {
      const int other = row.columns[k] / node_size;
      if (other != node && other != before)
        f(node, other);
      before = other;
    }
  }
}
} // namespace

NodeGraph node_graph(const HostCsr &A, const int node_size)
{
  const auto n_nodes = static_cast<std::size_t>(A.n / node_size);
  std::vector<std::size_t> next(n_nodes + 1);
  for_connections(A, node_size, [&](const int a, const int b) {
    ++next[a + 1];
    ++next[b + 1];
  });
  for (std::size_t node = 0; node < n_nodes; ++node)
    next[node + 1] += next[node];
  std::vector<int> both(next.back()); // both directions, with repetitions
  const std::vector<std::size_t> starts = next;
  for_connections(A, node_size, [&](const int a, const int b) {
    both[next[a]++] = b;
    both[next[b]++] = a;
  });

  NodeGraph graph;
  graph.starts.push_back(0);
  for (std::size_t node = 0; node < n_nodes; ++node) {
    const auto begin = both.begin() + static_cast<std::ptrdiff_t>(starts[node]);
    const auto end = both.begin() + static_cast<std::ptrdiff_t>(starts[node + 1]);
    std::sort(begin, end);
    graph.neighbours.insert(graph.neighbours.end(), begin, std::unique(begin, end));
    if (graph.neighbours.size() > static_cast<std::size_t>(most_indices))
      throw SolverError("The graph of a matrix with " + std::to_string(A.n_nonzeros) +
                        " entries has more edges than can be counted (" +
                        std::to_string(most_indices) +
                        "). Use an order or a partition without METIS.");
    graph.starts.push_back(static_cast<int>(graph.neighbours.size()));
  }
  return graph;
}
} // namespace femgpu::linalg
