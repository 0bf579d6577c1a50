#include "linalg/base/error.h"
#include "linalg/partitions/partition.h"

#include <metis.h>

#include <numeric>
#include <string>

namespace femgpu::linalg
{
namespace
{
std::vector<idx_t> metis_indices(const std::vector<int> &from)
{
  return {from.begin(), from.end()};
}

std::vector<int> natural_places(const idx_t n)
{
  std::vector<int> places(static_cast<std::size_t>(n));
  std::iota(places.begin(), places.end(), 0);
  return places;
}
} // namespace

bool have_metis()
{
  return true;
}

std::vector<int> metis_blocks(const NodeGraph &graph, const int n_blocks)
{
  std::vector<idx_t> starts = metis_indices(graph.starts);
  std::vector<idx_t> neighbours = metis_indices(graph.neighbours);
  idx_t n_nodes = static_cast<idx_t>(graph.starts.size()) - 1, constraints = 1, cut = 0;
  idx_t parts = n_blocks;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1; // the same partition in every run
  std::vector<idx_t> blocks(static_cast<std::size_t>(n_nodes));
  const int status =
      METIS_PartGraphKway(&n_nodes, &constraints, starts.data(), neighbours.data(), nullptr,
                          nullptr, nullptr, &parts, nullptr, nullptr, options, &cut, blocks.data());
  if (status != METIS_OK)
    throw SolverError("METIS could not cut a graph of " + std::to_string(n_nodes) + " nodes into " +
                      std::to_string(n_blocks) + " blocks (status " + std::to_string(status) +
                      "). Use another number of blocks, or partition=contiguous.");
  return {blocks.begin(), blocks.end()};
}

std::vector<int> metis_dissection(const NodeGraph &graph)
{
  std::vector<idx_t> starts = metis_indices(graph.starts);
  std::vector<idx_t> neighbours = metis_indices(graph.neighbours);
  idx_t n_nodes = static_cast<idx_t>(graph.starts.size()) - 1;
  std::vector<idx_t> order(static_cast<std::size_t>(n_nodes)), places(order.size());
  if (neighbours.empty()) // METIS needs an edge
    return natural_places(n_nodes);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1; // the same order in every run
  const int status = METIS_NodeND(&n_nodes, starts.data(), neighbours.data(), nullptr, options,
                                  order.data(), places.data());
  if (status != METIS_OK)
    throw SolverError("METIS could not order a graph of " + std::to_string(n_nodes) +
                      " nodes by nested dissection (status " + std::to_string(status) +
                      "). Use another order.");
  return {places.begin(), places.end()};
}
} // namespace femgpu::linalg
