#include "linalg/transformations/reordering.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/cuthill_mckee_ordering.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace femgpu::linalg
{
namespace
{
using Graph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, unsigned int, unsigned int>;

/// The neighbours of each row: of A + Aᵀ without the diagonal, ascending.
struct Adjacency
{
  std::vector<unsigned int> starts, neighbours; // a sum of two ints fits into unsigned int
};

/// The rows of the entries of each column, ascending.
std::pair<std::vector<int>, std::vector<int>> transposed(const HostCsr &A)
{
  std::vector<int> starts(static_cast<std::size_t>(A.n) + 1), rows(A.n_nonzeros);
  for (std::size_t k = 0; k < A.n_nonzeros; ++k)
    ++starts[A.columns[k] + 1];
  for (int j = 0; j < A.n; ++j)
    starts[j + 1] += starts[j];
  std::vector<int> next(starts.begin(), starts.end() - 1);
  for (int i = 0; i < A.n; ++i)
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      rows[next[A.columns[k]]++] = i;
  return {std::move(starts), std::move(rows)};
}

Adjacency adjacency(const HostCsr &A)
{
  const auto [starts, rows] = transposed(A);
  Adjacency graph;
  graph.starts.assign(1, 0);
  graph.starts.reserve(static_cast<std::size_t>(A.n) + 1);
  graph.neighbours.reserve(A.n_nonzeros);
  std::vector<int> row;
  for (int i = 0; i < A.n; ++i) {
    row.clear();
    std::set_union(A.columns + A.row_starts[i], A.columns + A.row_starts[i + 1],
                   rows.begin() + starts[i], rows.begin() + starts[i + 1], std::back_inserter(row));
    for (const int j : row)
      if (j != i)
        graph.neighbours.push_back(static_cast<unsigned int>(j));
    graph.starts.push_back(static_cast<unsigned int>(graph.neighbours.size()));
  }
  return graph;
}

/// The rows that are connected with @p first, ascending; marks them in @p found.
std::vector<unsigned int> component_of(const unsigned int first, const Adjacency &graph,
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

/// Writes the order of one component backwards from @p end. Boost looks through its whole graph for
/// the starting node of each component, so each gets a graph of its own: else many small components
/// take quadratic time.
template <class Iterator>
Iterator order_component(const std::vector<unsigned int> &rows, const Adjacency &graph,
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
  const Adjacency graph = adjacency(A);
  const auto n = static_cast<unsigned int>(A.n);
  std::vector<int> order(n);
  std::vector<char> found(n);
  std::vector<unsigned int> local_index(n);
  auto end = order.rbegin();
  for (unsigned int i = 0; i < n; ++i) {
    if (found[i] != 0)
      continue;
    if (graph.starts[i] == graph.starts[i + 1])
      *end++ = static_cast<int>(i); // as constrained degrees of freedom are, and there are many
    else
      end = order_component(component_of(i, graph, found), graph, local_index, end);
  }
  return order;
}
} // namespace femgpu::linalg
