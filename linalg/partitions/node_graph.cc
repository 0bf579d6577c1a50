#include "linalg/partitions/partition.h"

#include <algorithm>
#include <iterator>

namespace femgpu::linalg
{
namespace
{
/// For each node, in ascending order, the nodes of the rows that have an entry in the node's
/// columns; a node occurs once for each such entry.
struct NodeColumns
{
  std::vector<std::size_t> starts;
  std::vector<unsigned int> nodes;
};

NodeColumns columns_of_nodes(const HostCsr &A, const int node_size)
{
  NodeColumns result;
  result.starts.resize(static_cast<std::size_t>(A.n / node_size) + 2);
  for (std::size_t k = 0; k < A.n_nonzeros; ++k)
    ++result.starts[A.columns[k] / node_size + 2];
  for (std::size_t node = 2; node < result.starts.size(); ++node)
    result.starts[node] += result.starts[node - 1];
  result.nodes.resize(A.n_nonzeros);
  for (int i = 0; i < A.n; ++i)
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      result.nodes[result.starts[A.columns[k] / node_size + 1]++] =
          static_cast<unsigned int>(i / node_size);
  return result;
}
} // namespace

NodeGraph node_graph(const HostCsr &A, const int node_size)
{
  const NodeColumns columns = columns_of_nodes(A, node_size);
  NodeGraph graph;
  graph.starts.reserve(static_cast<std::size_t>(A.n / node_size) + 1);
  graph.starts.assign(1, 0);
  if (node_size == 1)
    graph.neighbours.reserve(A.n_nonzeros);
  std::vector<unsigned int> row, both;
  for (int node = 0; node < A.n / node_size; ++node) {
    row.clear();
    for (std::size_t k = A.row_starts[node * node_size]; k < A.row_starts[(node + 1) * node_size];
         ++k)
      row.push_back(static_cast<unsigned int>(A.columns[k] / node_size));
    if (node_size > 1)
      std::sort(row.begin(), row.end());
    both.clear();
    std::set_union(row.begin(), row.end(), columns.nodes.data() + columns.starts[node],
                   columns.nodes.data() + columns.starts[node + 1], std::back_inserter(both));
    const auto last = std::unique(both.begin(), both.end());
    std::copy_if(
        both.begin(), last, std::back_inserter(graph.neighbours),
        [&](const unsigned int other) { return other != static_cast<unsigned int>(node); });
    graph.starts.push_back(static_cast<unsigned int>(graph.neighbours.size()));
  }
  return graph;
}
} // namespace femgpu::linalg
