#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/partitions/partition.h"

#include <metis.h>

#include <numeric>
#include <string>

namespace femgpu::linalg
{
namespace
{
/// A graph in the format of METIS, with options that make results reproducible.
struct MetisGraph
{
  explicit MetisGraph(const NodeGraph &graph) : n_nodes(static_cast<idx_t>(graph.starts.size()) - 1)
  {
    if (graph.neighbours.size() > static_cast<std::size_t>(max_indices))
      throw SolverError("The graph of a matrix with " + std::to_string(n_nodes) +
                        " nodes has more edges than METIS can index (" +
                        std::to_string(max_indices) +
                        "). Use an ordering or a partition without METIS.");
    starts.assign(graph.starts.begin(), graph.starts.end());
    neighbours.assign(graph.neighbours.begin(), graph.neighbours.end());
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_SEED] = 1;
  }

  idx_t n_nodes;
  std::vector<idx_t> starts, neighbours;
  idx_t options[METIS_NOPTIONS];
};

} // namespace

bool have_metis()
{
  return true;
}

std::vector<int> metis_blocks(const NodeGraph &graph, const int n_blocks)
{
  MetisGraph nodes(graph);
  idx_t constraints = 1, cut = 0, n_parts = n_blocks;
  std::vector<idx_t> blocks(static_cast<std::size_t>(nodes.n_nodes));
  const int status = METIS_PartGraphKway(
      &nodes.n_nodes, &constraints, nodes.starts.data(), nodes.neighbours.data(), nullptr, nullptr,
      nullptr, &n_parts, nullptr, nullptr, nodes.options, &cut, blocks.data());
  if (status != METIS_OK)
    throw SolverError("METIS failed to partition a graph of " + std::to_string(nodes.n_nodes) +
                      " nodes into " + std::to_string(n_blocks) + " blocks (status " +
                      std::to_string(status) +
                      "). Use another number of blocks, or partition=contiguous.");
  return {blocks.begin(), blocks.end()};
}

std::vector<int> metis_dissection(const NodeGraph &graph)
{
  MetisGraph nodes(graph);
  std::vector<idx_t> order(static_cast<std::size_t>(nodes.n_nodes)), positions(order.size());
  if (nodes.neighbours.empty()) { // METIS requires an edge
    std::iota(positions.begin(), positions.end(), 0);
    return {positions.begin(), positions.end()};
  }
  const int status = METIS_NodeND(&nodes.n_nodes, nodes.starts.data(), nodes.neighbours.data(),
                                  nullptr, nodes.options, order.data(), positions.data());
  if (status != METIS_OK)
    throw SolverError("METIS failed to order a graph of " + std::to_string(nodes.n_nodes) +
                      " nodes by nested dissection (status " + std::to_string(status) +
                      "). Use another ordering.");
  return {positions.begin(), positions.end()};
}
} // namespace femgpu::linalg
