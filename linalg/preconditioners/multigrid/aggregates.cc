#include "linalg/preconditioners/multigrid/aggregates.h"

#include "linalg/base/atomic.h"
#include "linalg/base/hash.h"
#include "linalg/sparse/row_product.h"
#include "linalg/sparse/select_entries.h"

namespace femgpu::linalg
{
namespace
{
/// A selector for select_entries(): selects the entries that are strong connections.
struct StrongEntries
{
  CsrView<double> A;
  int n_columns; ///< only columns j < n_columns are selected
  const double *diagonal;
  double theta_squared;

  FEMGPU_HD
  static int row(const int r)
  {
    return r;
  }
  template <class Function>
  FEMGPU_HD
  void visit(const int i, const int k, const Function &f) const
  {
    if (k >= A.row_starts.low[i + 1] || A.columns[k] == i || A.columns[k] >= n_columns)
      return;
    const int j = A.columns[k];
    const double a_ij = A.values[k];
    if (a_ij != 0. && a_ij * a_ij >= theta_squared * (diagonal[i] * diagonal[j]))
      f(j, k);
  }
};

struct IsOffDiagonal
{
  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return i != j;
  }
};

/// The state of a node while a set of roots is chosen. The two highest bits (is_in, is_undecided)
/// state whether the node is in the set, undecided, or neither; the lower bits hold the node's
/// hash, and its number to break ties. The key is 0 if the node has an aggregate, or never gets
/// one.
using Key = unsigned long long;
constexpr Key is_in = Key{1} << 63U, is_undecided = Key{1} << 62U;

enum Membership : int
{
  no_aggregate = -1,    ///< the node has no aggregate yet
  never_aggregate = -2, ///< the node is isolated and gets no aggregate
};

struct InitialKey
{
  RowPatternView graph;
  int n; ///< number of nodes of this rank; ghosts follow
  long long first;
  int *root_of;
  Key *keys;

  FEMGPU_HD
  void operator()(const int i) const
  {
    if (i >= n) {
      root_of[i] = never_aggregate;
      keys[i] = 0;
      return;
    }
    const auto number = static_cast<unsigned long long>(first + i);
    const unsigned int high = hash_of(static_cast<unsigned int>(number >> 32U));
    const unsigned int hash = hash_of(static_cast<unsigned int>(number) ^ high);
    root_of[i] = graph.length(i) > 0 ? no_aggregate : never_aggregate;
    keys[i] = Key{hash >> 2U} << 32U | static_cast<unsigned int>(i);
  }
};

/// Returns the largest key of node i and its neighbours.
struct LargestKey
{
  RowPatternView graph;
  const Key *keys;

  FEMGPU_HD
  Key operator()(const int i) const
  {
    Key largest = keys[i];
    for (int k = graph.row_starts[i]; k < graph.row_starts[i + 1]; ++k) {
      const Key key = keys[graph.columns[k]];
      largest = key > largest ? key : largest;
    }
    return largest;
  }
};

/// Takes a node into the set if its key is the largest within two connections; excludes it if there
/// is a node of the set within two connections.
struct Decide
{
  LargestKey largest_near; ///< its keys are the largest keys of each node and its neighbours
  Key *keys;
  int *any_undecided; ///< 1 if a node stays undecided; nullptr: not needed

  FEMGPU_HD
  void operator()(const int i) const
  {
    if ((keys[i] & is_undecided) == 0)
      return;
    const Key largest = largest_near(i);
    if (largest == keys[i])
      keys[i] ^= is_undecided | is_in;
    else if ((largest & is_in) != 0)
      keys[i] ^= is_undecided;
    else if (any_undecided != nullptr)
      store_relaxed(any_undecided, 1);
  }
};

/// Makes nodes of the set roots if enough of their neighbours have no aggregate.
struct FindRoots
{
  RowPatternView graph;
  const int *root_of;
  const Key *keys;
  int min_neighbours;
  int *is_root;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int n_free = 0;
    if ((keys[i] & is_in) != 0)
      for (int k = graph.row_starts[i]; k < graph.row_starts[i + 1]; ++k)
        n_free += root_of[graph.columns[k]] == no_aggregate ? 1 : 0;
    is_root[i] = n_free >= min_neighbours ? 1 : 0;
  }
};

struct JoinRoots
{
  RowPatternView graph;
  const int *is_root;
  int *root_of;

  FEMGPU_HD
  void operator()(const int i) const
  {
    if (root_of[i] != no_aggregate)
      return;
    int root = is_root[i] != 0 ? i : no_aggregate;
    for (int k = graph.row_starts[i]; root < 0 && k < graph.row_starts[i + 1]; ++k)
      if (is_root[graph.columns[k]] != 0)
        root = graph.columns[k];
    root_of[i] = root;
  }
};

/// Finds the aggregate to which most neighbours of a node belong; in a tie, the smallest aggregate
/// and, of equally small ones, the one with the lowest root.
struct JoinNeighbours
{
  RowPatternView graph;
  const int *root_of, *sizes;
  int *joined;

  FEMGPU_HD
  int neighbours_of(const int i, const int root) const
  {
    int n = 0;
    for (int k = graph.row_starts[i]; k < graph.row_starts[i + 1]; ++k)
      n += root_of[graph.columns[k]] == root ? 1 : 0;
    return n;
  }

  FEMGPU_HD
  void operator()(const int i) const
  {
    joined[i] = root_of[i];
    if (root_of[i] != no_aggregate)
      return;
    int best = no_aggregate, max_neighbours = 0;
    for (int k = graph.row_starts[i]; k < graph.row_starts[i + 1]; ++k) {
      const int root = root_of[graph.columns[k]];
      if (root < 0 || root == best)
        continue;
      const int n = neighbours_of(i, root);
      const bool wins_tie = n == max_neighbours && (sizes[root] < sizes[best] ||
                                                    (sizes[root] == sizes[best] && root < best));
      if (n > max_neighbours || wins_tie) {
        best = root;
        max_neighbours = n;
      }
    }
    joined[i] = best;
  }
};

/// The number of rounds between two checks by the host, which wait for running kernels. Most sets
/// take 8 to 14 rounds; a round without changes reads one key per node.
constexpr int rounds_at_once = 4;

/// Chooses another set of roots among the nodes without an aggregate, and adds the neighbours of
/// these roots to their aggregates.
/// @param min_neighbours minimum number of neighbours without an aggregate that a root needs
template <class Backend>
void add_roots(const ExecutorPtr &executor, const RowPatternView &graph, const Buffer<Key> &hashes,
               const int min_neighbours, Buffer<int> &roots)
{
  const auto n = static_cast<int>(roots.size());
  Runner<Backend> runner(*executor);
  Buffer<Key> all_keys(executor, roots.size()), largest_keys(executor, roots.size());
  Buffer<int> all_flags(executor, roots.size());
  Key *const keys = all_keys.data(), *const near_keys = largest_keys.data();
  int *const flags = all_flags.data(), *const root_of = roots.data();
  runner.run(rows(n, [root_of, keys, near_keys, hashes = hashes.data()] FEMGPU_BODY(const int i) {
    keys[i] = root_of[i] == no_aggregate ? hashes[i] | is_undecided : 0;
    near_keys[i] = keys[i];
  }));
  const LargestKey largest_key{graph, keys}, largest_near_key{graph, near_keys};
  Buffer<int> any_undecided(executor, 1);
  do {
    any_undecided.fill_zero();
    for (int round = 1; round <= rounds_at_once; ++round) {
      runner.run(rows(n, [largest_key, near_keys] FEMGPU_BODY(const int i) {
        if ((near_keys[i] & is_undecided) != 0) // decided nodes do not change
          near_keys[i] = largest_key(i);
      }));
      const bool is_last_round = round == rounds_at_once;
      runner.run(
          rows(n, Decide{largest_near_key, keys, is_last_round ? any_undecided.data() : nullptr}));
    }
  } while (any_undecided.to_host()[0] != 0);
  runner.run(rows(n, FindRoots{graph, root_of, keys, min_neighbours, flags}));
  runner.run(rows(n, JoinRoots{graph, flags, root_of}));
}

/// Adds the remaining nodes to aggregates of their neighbours, and numbers the aggregates in the
/// order of their roots.
template <class Backend>
Aggregates join_others(const ExecutorPtr &executor, const RowPatternView &graph,
                       const Buffer<int> &roots)
{
  const auto n = static_cast<int>(roots.size());
  const int *const root_of = roots.data();
  Runner<Backend> runner(*executor);
  Buffer<int> all_sizes(executor, roots.size()), flags(executor, roots.size());
  all_sizes.fill_zero();
  int *const sizes = all_sizes.data(), *const is_root = flags.data();
  runner.run(rows(n, [root_of, sizes, is_root] FEMGPU_BODY(const int i) {
    if (root_of[i] >= 0)
      atomic_add(sizes + root_of[i], 1);
    is_root[i] = root_of[i] == i ? 1 : 0;
  }));
  Aggregates result{0, Buffer<int>(executor, roots.size()), RowPattern()};
  runner.run(rows(n, JoinNeighbours{graph, root_of, sizes, result.aggregate_of_node.data()}));
  Buffer<int> numbers(executor, roots.size() + 1);
  result.n = static_cast<int>(total_counts<Backend>(executor, is_root, n).sum);
  scan_counts<Backend>(executor, is_root, n, numbers.data());
  runner.run(rows(n, [aggregate_of_node = result.aggregate_of_node.data(),
                      numbers = numbers.data()] FEMGPU_BODY(const int i) {
    aggregate_of_node[i] = aggregate_of_node[i] < 0 ? -1 : numbers[aggregate_of_node[i]];
  }));
  result.nodes = sorted_nodes<Backend>(executor, result.n, result.aggregate_of_node);
  return result;
}
} // namespace

template <class Backend>
RowPattern strong_connections(const CsrMatrix &A, const Nodes &nodes, const double *diagonal,
                              const double theta)
{
  const std::string what = "The graph of strong connections";
  const ExecutorPtr &owner = A.executor();
  const int n = A.n();
  const bool are_rows = nodes.n() == n;
  const StrongEntries choice{A.csr_view(), are_rows ? A.n_columns() : n, diagonal, theta * theta};
  RowPattern strong = select_entries<Backend>(pattern_of(A), choice, n, what).pattern;
  if (are_rows)
    return strong;
  // Let N be the pattern whose row i contains only the node of row i, and S be `strong`. Then
  // Nᵀ S N connects nodes, including each node with itself.
  Buffer<int> rows_in_order(owner, static_cast<std::size_t>(n) + 1);
  int *const in_order = rows_in_order.data();
  Runner<Backend>(*owner).run(
      rows(n + 1, [in_order] FEMGPU_BODY(const int i) { in_order[i] = i; }));
  const auto n_entries = static_cast<std::size_t>(n);
  const PatternRef N{owner, {in_order, nodes.node_of_row.data()}, n, nodes.n(), n_entries};
  const PatternRef N_transposed{owner, {nodes.starts.data(), in_order}, nodes.n(), n, n_entries};
  const RowPattern SN = multiply<Backend>(pattern_of(owner, strong), N, what);
  const RowPattern NSN = multiply<Backend>(N_transposed, pattern_of(owner, SN, nodes.n()), what);
  const PatternRef all = pattern_of(owner, NSN);
  return select_entries<Backend>(all, EntriesWhere<IsOffDiagonal>{all.view(), {}}, nodes.n(), what)
      .pattern;
}

template <class Backend>
RowPattern sorted_nodes(const ExecutorPtr &executor, const int n_aggregates,
                        const Buffer<int> &aggregate_of_node)
{
  const auto n = static_cast<int>(aggregate_of_node.size());
  RowPattern result{Buffer<int>(executor, static_cast<std::size_t>(n_aggregates) + 1),
                    Buffer<int>(executor, aggregate_of_node.size())};
  Buffer<int> unsorted_keys(executor, aggregate_of_node.size()),
      sorted_keys(executor, aggregate_of_node.size());
  int *const keys = unsorted_keys.data(), *const sorted = sorted_keys.data();
  int *const starts = result.row_starts.data();
  Runner<Backend> runner(*executor);
  runner.run(rows(n, [keys, n_aggregates,
                      aggregate_of_node = aggregate_of_node.data()] FEMGPU_BODY(const int i) {
    keys[i] = aggregate_of_node[i] < 0 ? n_aggregates : aggregate_of_node[i];
  }));
  sort_by_key<Backend>(executor, keys, n, n_aggregates + 1, sorted, result.columns.data());
  runner.run(rows(n_aggregates + 1, [n, sorted, starts] FEMGPU_BODY(const int a) {
    starts[a] = lower_bound(sorted, 0, n, a);
  }));
  return result;
}

template <class Backend>
Aggregation<Backend>::Aggregation(const ExecutorPtr &executor, const RowPattern &graph,
                                  const int n_columns, const long long first)
    : executor(executor), graph(graph.view()),
      hashes(executor, static_cast<std::size_t>(n_columns)), root_of(executor, hashes.size())
{
  Runner<Backend>(*executor).run(
      rows(n_columns, InitialKey{this->graph, graph.n(), first, root_of.data(), hashes.data()}));
  add_roots<Backend>(executor, this->graph, hashes, 1, root_of);
}

template <class Backend>
Aggregates Aggregation<Backend>::aggregates(const int min_neighbours) const
{
  Buffer<int> roots = root_of.copy();
  add_roots<Backend>(executor, graph, hashes, min_neighbours, roots);
  return join_others<Backend>(executor, graph, roots);
}

template RowPattern strong_connections<ThisBackend>(const CsrMatrix &, const Nodes &,
                                                    const double *, double);
template RowPattern sorted_nodes<ThisBackend>(const ExecutorPtr &, int, const Buffer<int> &);
template class Aggregation<ThisBackend>;
} // namespace femgpu::linalg
