#ifndef femgpu_linalg_partitions_partition_h
#define femgpu_linalg_partitions_partition_h

#include "linalg/base/host_matrix.h"

#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * A division of a matrix's rows into blocks: new row i is old row order[i], and block k has the new
 * rows starts[k] <= i < starts[k + 1]. Rows of a block keep their order, and no block is empty. A
 * partition does not depend on the number of threads.
 */
struct Partition
{
  std::vector<int> starts; ///< first new row of each block, then the number of rows
  std::vector<int> order;  ///< old row of each new row; empty: the identity

  int n_blocks() const
  {
    return static_cast<int>(starts.size()) - 1;
  }
  int largest_block() const;
};

/// Returns the names of the kinds of partitions, as users write them.
std::vector<std::string> partition_choices();

/// Checks that METIS, which @p what needs, is available; the error message suggests @p alternative.
/// @throws ParameterError if METIS is unavailable
void require_metis(const std::string &what, const std::string &alternative);

/// Checks that this build supports the partition @p kind.
/// @throws ParameterError if it does not
void check_partition(const std::string &kind);

/**
 * Partitions the rows of @p A, whose values are not read, into @p n_blocks blocks; if there are
 * fewer nodes, into as many blocks as nodes. The unknowns of a node stay together.
 *
 * contiguous: consecutive rows, in blocks of equal size; costs nothing.
 * geometry: recursive bisection of the nodes along the coordinate with the largest extent; takes
 * O(n log n_blocks) operations.
 * metis: METIS' multilevel k-way partition of the graph of A + Aᵀ, which minimises the entries
 * between blocks (Karypis and Kumar 1998); the slowest kind.
 *
 * @throws ParameterError for geometry without coordinates, and for metis without METIS
 * @throws SolverError if METIS fails
 */
Partition make_partition(const std::string &kind, const HostCsr &A, int n_blocks);

/// Returns the partition in which node k is in block blocks[k] < n_blocks.
/// @param node_size number of rows of a node
Partition partition_from_blocks(const std::vector<int> &blocks, int n_blocks, int node_size);

/// Divides nodes into blocks by recursive bisection; returns the block of each node.
/// @param coordinates the coordinates of one node after the other
/// @param n_blocks at least 1
std::vector<int> bisect_coordinates(const std::vector<double> &coordinates, int dimension,
                                    int n_blocks);

/// The graph of A + Aᵀ, in which all rows of a node form one vertex: the neighbours of each node,
/// ascending, without the node itself.
struct NodeGraph
{
  std::vector<unsigned int> starts, neighbours; // up to twice as many neighbours as int can count
};
NodeGraph node_graph(const HostCsr &A, int node_size);

/// Divides the nodes into blocks by METIS; returns the block of each node.
/// @throws ParameterError if METIS is unavailable, SolverError if METIS fails
std::vector<int> metis_blocks(const NodeGraph &graph, int n_blocks);
/// Returns the position of each node in METIS' nested dissection order.
/// @throws ParameterError if METIS is unavailable, SolverError if METIS fails
std::vector<int> metis_dissection(const NodeGraph &graph);
bool have_metis();
} // namespace femgpu::linalg

#endif
