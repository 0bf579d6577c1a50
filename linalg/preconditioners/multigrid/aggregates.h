#ifndef femgpu_linalg_preconditioners_multigrid_aggregates_h
#define femgpu_linalg_preconditioners_multigrid_aggregates_h

#include "linalg/sparse/row_pattern.h"

/**
 * @file
 * Which unknowns of a level become one of the next: groups of nodes that are strongly connected.
 */
namespace femgpu::linalg
{
/// Rows that follow each other and are kept together: the unknowns of a node on the finest level,
/// those of an aggregate on the others, whose numbers may differ.
struct Nodes
{
  Buffer<int> starts; ///< the first row of each, and the end
  Buffer<int> of_row;

  int n() const
  {
    return static_cast<int>(starts.size()) - 1;
  }
};

/// Groups of nodes.
struct Aggregates
{
  int n;
  Buffer<int> of_node; ///< -1: a node that has no strong connection is in none
  RowPattern nodes;    ///< sorted_nodes()
};

/// The nodes of each aggregate, ascending, and behind them those that are in none.
template <class Backend>
RowPattern sorted_nodes(const ExecutorPtr &executor, int n_aggregates, const Buffer<int> &of_node);

/**
 * The nodes J that a node I is strongly connected with, not with itself: for a row i of I and a row
 * j of J, a_ij² >= θ² a_ii a_jj (Vaněk, Mandel and Brezina 1996). All are products of two numbers,
 * so that host and GPU come to the same graph for the same bits of A; and no unit of an unknown is
 * in it. Of a part, nodes are those of its own rows; where each row is one, ghosts are connected
 * too.
 * @param diagonal a number for each row, and for each ghost
 */
template <class Backend>
RowPattern strong_connections(const CsrMatrix &A, const Nodes &nodes, const double *diagonal,
                              double theta);

/**
 * Aggregates of nodes (Bell, Dalton and Olson 2012; Kelley and Rajamanickam 2022): a maximal set of
 * nodes that are three or more connections apart from each other are roots, which take their
 * neighbours; of what is left another such set, where a root still has some neighbours to take; the
 * others join the aggregate of which they have most neighbours. Depends on the graph alone, for any
 * number of threads: the set prefers nodes by a hash of their global numbers.
 */
template <class Backend>
class Aggregation
{
public:
  /// Makes the first set.
  /// @param graph symmetric; of one that is not, some connected nodes may stay alone; outlives it
  /// @param first global number of the first node
  Aggregation(const ExecutorPtr &executor, const RowPattern &graph, long long first);
  Aggregation(const ExecutorPtr &executor, RowPattern &&graph, long long first) = delete;

  /// Makes a second set beside the first, and the aggregates of both.
  /// @param least_neighbours of a root of the second set: with more of them aggregates are larger
  Aggregates aggregates(int least_neighbours) const;

private:
  ExecutorPtr executor;
  RowPatternView graph;
  Buffer<unsigned long long> hashes; ///< of nodes
  Buffer<int> root_of;               ///< of those that the first set took
};
} // namespace femgpu::linalg

#endif
