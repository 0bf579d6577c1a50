#include "linalg/partitions/partition.h"

#include "linalg/base/error.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
/// Divides @p n_nodes nodes of @p node_size rows each into contiguous blocks whose sizes differ by
/// at most one node.
Partition contiguous_blocks(const int n_nodes, const int n_blocks, const int node_size)
{
  Partition partition;
  for (int block = 0; block <= n_blocks; ++block)
    partition.starts.push_back(
        static_cast<int>(static_cast<long long>(n_nodes) * block / n_blocks) * node_size);
  return partition;
}

/// Returns the coordinates of the first row of each node.
std::vector<double> node_coordinates(const HostCsr &A, const int node_size)
{
  const auto dimension = static_cast<std::size_t>(A.unknowns->dimension);
  std::vector<double> coordinates;
  coordinates.reserve(static_cast<std::size_t>(A.n / node_size) * dimension);
  for (int row = 0; row < A.n; row += node_size)
    for (std::size_t d = 0; d < dimension; ++d)
      coordinates.push_back(A.unknowns->coordinates[static_cast<std::size_t>(row) * dimension + d]);
  return coordinates;
}
} // namespace

int Partition::largest_block() const
{
  int largest = 0;
  for (int block = 0; block < n_blocks(); ++block)
    largest = std::max(largest, starts[block + 1] - starts[block]);
  return largest;
}

std::vector<std::string> partition_choices()
{
  return {"contiguous", "metis", "geometry"};
}

void require_metis(const std::string &what, const std::string &alternative)
{
  if (!have_metis())
    throw ParameterError("This femgpu was built without METIS, which " + what +
                         " needs. Install libmetis-dev and rebuild femgpu, or use " + alternative +
                         ".");
}

void check_partition(const std::string &kind)
{
  if (kind == "metis")
    require_metis("partition=metis", "partition=contiguous or partition=geometry");
}

Partition partition_from_blocks(const std::vector<int> &blocks, const int n_blocks,
                                const int node_size)
{
  std::vector<int> ends(static_cast<std::size_t>(n_blocks) +
                        1); // number of nodes before each block
  for (const int block : blocks)
    ++ends[block + 1];
  for (int block = 0; block < n_blocks; ++block)
    ends[block + 1] += ends[block];

  Partition partition;
  partition.starts.push_back(0);
  for (int block = 0; block < n_blocks; ++block)
    if (ends[block + 1] > ends[block])
      partition.starts.push_back(ends[block + 1] * node_size);
  partition.order.resize(blocks.size() * static_cast<std::size_t>(node_size));
  for (std::size_t node = 0; node < blocks.size(); ++node) {
    const int position = ends[blocks[node]]++;
    for (int c = 0; c < node_size; ++c)
      partition.order[position * node_size + c] = static_cast<int>(node) * node_size + c;
  }
  return partition;
}

Partition make_partition(const std::string &kind, const HostCsr &A, const int n_blocks)
{
  check_partition(kind);
  const int node_size = A.node_size(), n_nodes = A.n / node_size;
  const int p = std::clamp(n_blocks, 1, std::max(n_nodes, 1));
  if (kind == "geometry" && A.unknowns->coordinates.empty())
    throw ParameterError("partition=geometry needs the coordinates of the unknowns, which this "
                         "matrix does not have. Use partition=metis or partition=contiguous.");
  if (p == 1 || kind == "contiguous")
    return contiguous_blocks(n_nodes, p, node_size);
  const std::vector<int> blocks =
      kind == "geometry"
          ? bisect_coordinates(node_coordinates(A, node_size), A.unknowns->dimension, p)
          : metis_blocks(node_graph(A, node_size), p);
  return partition_from_blocks(blocks, p, node_size);
}
} // namespace femgpu::linalg
