#ifndef femgpu_linalg_partitions_partition_h
#define femgpu_linalg_partitions_partition_h

#include "linalg/base/host_matrix.h"

#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * The rows of a matrix in blocks: new row i is old row order[i], and block k has the new rows
 * starts[k] <= i < starts[k + 1]. Rows of a block keep their order, and no block is empty. It does
 * not depend on the number of threads.
 */
struct Partition
{
  std::vector<int> starts; ///< blocks + 1
  std::vector<int> order;  ///< empty: as they are

  int n_blocks() const
  {
    return static_cast<int>(starts.size()) - 1;
  }
  int largest_block() const;
};

/// Names of the ways to cut, as users write them.
std::vector<std::string> partition_choices();

/// @throws ParameterError without METIS. @param what needs it, and @param instead what does not
void require_metis(const std::string &what, const std::string &instead);

/// @throws ParameterError if this program was built without what @p kind needs
void check_partition(const std::string &kind);

/**
 * Cuts the rows of @p A, whose values are not read, into @p n_blocks blocks, or as many as there
 * are nodes if these are fewer. Unknowns of a node stay together.
 *
 * contiguous: rows as they are numbered, in pieces of equal size; costs nothing.
 * geometry: recursive bisection of the nodes by that coordinate which extends farthest; O(n log p).
 * metis: METIS' multilevel k-way partition of the graph of A + Aᵀ: fewest entries between blocks
 * (Karypis and Kumar 1998); the slowest.
 *
 * @throws ParameterError for geometry without coordinates, and as check_partition();
 *         SolverError if METIS fails
 */
Partition make_partition(const std::string &kind, const HostCsr &A, int n_blocks);

/// The partition where node k, of @p node_size rows, is in block blocks[k] < n_blocks.
Partition partition_from_blocks(const std::vector<int> &blocks, int n_blocks, int node_size);

/// The block of each node, by coordinates of @p dimension numbers a node. @p n_blocks > 0
std::vector<int> bisect_coordinates(const std::vector<double> &coordinates, int dimension,
                                    int n_blocks);

/// The neighbours, ascending, of nodes of @p node_size rows in the graph of A + Aᵀ, without loops.
struct NodeGraph
{
  std::vector<unsigned int> starts, neighbours; // twice the entries that int can count
};
NodeGraph node_graph(const HostCsr &A, int node_size);

/// The block of each node, by METIS. @throws ParameterError without METIS, SolverError if it fails
std::vector<int> metis_blocks(const NodeGraph &graph, int n_blocks);
/// The place of each node in METIS' order by nested dissection. @throws as metis_blocks()
std::vector<int> metis_dissection(const NodeGraph &graph);
bool have_metis();
} // namespace femgpu::linalg

#endif
