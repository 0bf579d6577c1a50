#ifndef femgpu_linalg_preconditioners_multigrid_aggregates_h
#define femgpu_linalg_preconditioners_multigrid_aggregates_h

#include "linalg/sparse/row_pattern.h"

/**
 * @file
 * The choice of unknowns of the next level: groups of strongly connected nodes.
 */
namespace femgpu::linalg
{
/// Consecutive rows that stay together: the unknowns of a node on the finest level, those of an
/// aggregate on the other levels, where nodes may differ in size.
struct Nodes
{
  Buffer<int> starts; ///< the first row of each, and the end
  Buffer<int> node_of_row;

  int n() const
  {
    return static_cast<int>(starts.size()) - 1;
  }
};

/// Groups of nodes.
struct Aggregates
{
  int n;
  Buffer<int> aggregate_of_node; ///< -1: in no aggregate, without a strong connection
  RowPattern nodes;              ///< sorted_nodes()
};

/// Returns the nodes of each aggregate, ascending, followed by those in no aggregate.
template <class Backend>
RowPattern sorted_nodes(const ExecutorPtr &executor, int n_aggregates,
                        const Buffer<int> &aggregate_of_node);

/**
 * Returns the nodes J to which each node I is strongly connected, except itself: for a row i of I
 * and a row j of J, a_ij² >= θ² a_ii a_jj (Vaněk, Mandel and Brezina 1996). Both sides are products
 * of two numbers each, so that host and GPU obtain the same graph from the same bits of A; the
 * units of unknowns do not matter. In distributed matrices nodes consist of own rows; if each row
 * is a node, ghosts are connected too.
 * @param diagonal a number for each row, and for each ghost
 */
template <class Backend>
RowPattern strong_connections(const CsrMatrix &A, const Nodes &nodes, const double *diagonal,
                              double theta);

/**
 * Aggregates of nodes (Bell, Dalton and Olson 2012; Kelley and Rajamanickam 2022): a maximal set of
 * nodes that are at least three connections apart become roots, which take their neighbours. A
 * second such set is chosen from the remaining nodes, whose roots need a minimum of neighbours to
 * take. All others join the aggregate of most of their neighbours. The result depends on the graph
 * alone, for any number of threads: nodes are ranked by a hash of their global numbers.
 */
template <class Backend>
class Aggregation
{
public:
  /// Chooses the first set.
  /// @param graph symmetric, outlives this object; otherwise some connected nodes may stay isolated
  /// @param first global number of the first node
  Aggregation(const ExecutorPtr &executor, const RowPattern &graph, long long first);
  Aggregation(const ExecutorPtr &executor, RowPattern &&graph, long long first) = delete;

  /// Chooses a second set in addition to the first, and returns the aggregates of both.
  /// @param min_neighbours of a root of the second set: more of them give larger aggregates
  Aggregates aggregates(int min_neighbours) const;

private:
  ExecutorPtr executor;
  RowPatternView graph;
  Buffer<unsigned long long> hashes; ///< of nodes
  Buffer<int> root_of;               ///< of the nodes that the first set took
};
} // namespace femgpu::linalg

#endif
