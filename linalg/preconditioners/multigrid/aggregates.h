#ifndef femgpu_linalg_preconditioners_multigrid_aggregates_h
#define femgpu_linalg_preconditioners_multigrid_aggregates_h

#include "linalg/sparse/row_pattern.h"

/**
 * @file
 * The choice of aggregates, groups of strongly connected nodes that become the nodes of the next
 * level.
 */
namespace femgpu::linalg
{
/// Nodes: groups of consecutive rows that stay together. On the finest level, the rows of a node
/// are its unknowns; on other levels, they represent an aggregate, and nodes may differ in size.
struct Nodes
{
  Buffer<int> starts; ///< the first row of each node, then the number of rows
  Buffer<int> node_of_row;

  int n() const
  {
    return static_cast<int>(starts.size()) - 1;
  }
};

/// The aggregates of a level: disjoint groups of nodes.
struct Aggregates
{
  int n;
  Buffer<int> aggregate_of_node; ///< -1: none, because the node has no strong connection
  RowPattern nodes;              ///< the nodes of each aggregate, see sorted_nodes()
};

/// Returns a pattern whose row a contains the nodes of aggregate a, ascending. After the end of the
/// last row, the columns contain the nodes that are in no aggregate.
template <class Backend>
RowPattern sorted_nodes(const ExecutorPtr &executor, int n_aggregates,
                        const Buffer<int> &aggregate_of_node);

/**
 * Returns, for each node I, the other nodes J to which I is strongly connected: for some row i of I
 * and some row j of J, a_ij² >= θ² a_ii a_jj (Vaněk, Mandel and Brezina 1996). The criterion needs
 * only multiplications, so that host and GPU obtain the same graph from the same bits of A, and the
 * units of unknowns do not matter. In distributed matrices nodes consist of owned rows; if each row
 * is a node, ghosts are connected too.
 * @param diagonal a_ii of each row, and of each ghost if the matrix is distributed
 */
template <class Backend>
RowPattern strong_connections(const CsrMatrix &A, const Nodes &nodes, const double *diagonal,
                              double theta);

/**
 * Computes aggregates of nodes (Bell, Dalton and Olson 2012; Kelley and Rajamanickam 2022). The
 * nodes of a maximal set in which any two are at least three connections apart become roots, and
 * each root takes its neighbours into its aggregate. A second such set is chosen from the remaining
 * nodes; its nodes become roots if they have enough neighbours without an aggregate. All other
 * nodes join the aggregate to which most of their neighbours belong. The result depends only on the
 * graph, not on the number of threads, because nodes are ranked by a hash of their global numbers.
 */
template <class Backend>
class Aggregation
{
public:
  /// Chooses the first set of roots.
  /// @param graph strong connections; must outlive this object and be symmetric, because otherwise
  /// some connected nodes may stay isolated
  /// @param n_columns number of nodes of this rank and of ghosts, which get no aggregate
  /// @param first global number of the first node
  Aggregation(const ExecutorPtr &executor, const RowPattern &graph, int n_columns, long long first);
  Aggregation(const ExecutorPtr &executor, RowPattern &&graph, int n_columns,
              long long first) = delete;

  /// Chooses a second set of roots in addition to the first, and returns the aggregates of both.
  /// @param min_neighbours how many neighbours without an aggregate a root of the second set needs;
  /// a larger number gives larger aggregates
  Aggregates aggregates(int min_neighbours) const;

private:
  ExecutorPtr executor;
  RowPatternView graph;
  Buffer<unsigned long long> hashes; ///< hash of each node
  Buffer<int> root_of; ///< for each node: the root (of the first set) that it joins; < 0: none
};
} // namespace femgpu::linalg

#endif
