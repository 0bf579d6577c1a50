#include "linalg/transformations/reordering.h"

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
namespace
{
constexpr int rows_per_part = 8192; ///< for parts=auto; vectors of a part fit into fast caches

/// Computes reverse Cuthill-McKee orders of subgraphs.
class PartOrdering
{
public:
  explicit PartOrdering(const NodeGraph &graph)
      : graph(graph), local_index(graph.starts.size() - 1, -1)
  {}

  /// Returns @p nodes, which are distinct, in reverse Cuthill-McKee order.
  std::vector<int> ordered(const std::vector<int> &nodes)
  {
    const std::vector<int> order = reverse_cuthill_mckee(subgraph(nodes).csr());
    std::vector<int> result;
    for (const int i : order)
      result.push_back(nodes[i]);
    for (const int node : nodes)
      local_index[node] = -1;
    return result;
  }

private:
  /// Returns the pattern of the entries that connect @p nodes, and of the diagonal.
  HostMatrix subgraph(const std::vector<int> &nodes)
  {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      local_index[nodes[i]] = static_cast<int>(i);
    HostMatrix A;
    std::vector<int> row;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      row.assign(1, static_cast<int>(i));
      for (unsigned int k = graph.starts[nodes[i]]; k < graph.starts[nodes[i] + 1]; ++k)
        if (local_index[graph.neighbours[k]] >= 0)
          row.push_back(local_index[graph.neighbours[k]]);
      std::sort(row.begin(), row.end());
      for (const int column : row)
        A.add(column, 1.);
      A.end_row();
    }
    return A;
  }

  const NodeGraph &graph;
  std::vector<int> local_index; ///< local numbers of the nodes of this part; -1 for other nodes
};
} // namespace

Partition ordering_by_parts(const std::string &kind, const HostCsr &A, const int n_parts,
                            const LocalOrdering within)
{
  const int parts = n_parts > 0 ? n_parts : (A.n - 1) / rows_per_part + 1;
  const int node_size = A.node_size();
  Partition partition = make_partition(kind, A, parts);
  if (within == LocalOrdering::none)
    return partition;

  const NodeGraph graph = node_graph(A, node_size);
  PartOrdering ordering(graph);
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(A.n));
  for (int part = 0; part < partition.n_blocks(); ++part) {
    std::vector<int> nodes;
    for (int i = partition.starts[part]; i < partition.starts[part + 1]; i += node_size)
      nodes.push_back((partition.order.empty() ? i : partition.order[i]) / node_size);
    for (const int node : ordering.ordered(nodes))
      for (int c = 0; c < node_size; ++c)
        order.push_back(node * node_size + c);
  }
  partition.order = std::move(order);
  return partition;
}
} // namespace femgpu::linalg
