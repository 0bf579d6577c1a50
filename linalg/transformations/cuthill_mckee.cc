#include "linalg/partitions/partition.h"
#include "linalg/transformations/reordering.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/cuthill_mckee_ordering.hpp>

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
namespace
{
using Graph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, unsigned int, unsigned int>;

/// Returns the rows that are connected with @p first, ascending, and marks them in @p found.
std::vector<unsigned int> component_of(const unsigned int first, const NodeGraph &graph,
                                       std::vector<char> &found)
{
  std::vector<unsigned int> rows = {first};
  found[first] = 1;
  for (std::size_t next = 0; next < rows.size(); ++next)
    for (unsigned int k = graph.starts[rows[next]]; k < graph.starts[rows[next] + 1]; ++k)
      if (const unsigned int j = graph.neighbours[k]; found[j] == 0) {
        found[j] = 1;
        rows.push_back(j);
      }
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// Writes the order of one component backwards from @p end, and returns the end for the next
/// component. Each component gets a graph of its own: Boost searches the whole graph for the
/// starting node of a component, so that many small components in one graph would take quadratic
/// time.
template <class Iterator>
Iterator order_component(const std::vector<unsigned int> &rows, const NodeGraph &graph,
                         std::vector<unsigned int> &local_index, const Iterator end)
{
  for (std::size_t i = 0; i < rows.size(); ++i)
    local_index[rows[i]] = static_cast<unsigned int>(i);
  std::vector<std::pair<unsigned int, unsigned int>> edges;
  if (rows.size() + 1 == graph.starts.size())
    edges.reserve(graph.neighbours.size());
  for (const unsigned int row : rows)
    for (unsigned int k = graph.starts[row]; k < graph.starts[row + 1]; ++k)
      edges.emplace_back(local_index[row], local_index[graph.neighbours[k]]);
  const Graph component(boost::edges_are_sorted, edges.begin(), edges.end(),
                        static_cast<unsigned int>(rows.size()),
                        static_cast<unsigned int>(edges.size()));
  std::vector<unsigned int> order(rows.size());
  boost::cuthill_mckee_ordering(component, order.begin());
  return std::transform(order.begin(), order.end(), end,
                        [&](const unsigned int i) { return static_cast<int>(rows[i]); });
}
} // namespace

std::vector<int> reverse_cuthill_mckee(const HostCsr &A)
{
  const NodeGraph graph = node_graph(A, 1);
  const auto n = static_cast<unsigned int>(A.n);
  std::vector<int> order(n);
  std::vector<char> found(n);
  std::vector<unsigned int> local_index(n);
  auto end = order.rbegin();
  for (unsigned int i = 0; i < n; ++i) {
    if (found[i] != 0)
      continue;
    if (graph.starts[i] == graph.starts[i + 1])
      *end++ = static_cast<int>(i); // isolated, like the many constrained degrees of freedom
    else
      end = order_component(component_of(i, graph, found), graph, local_index, end);
  }
  return order;
}
} // namespace femgpu::linalg
