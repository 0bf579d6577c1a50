#include "linalg/preconditioners/multigrid/aggregates.h"

#include "linalg/base/atomic.h"
#include "linalg/base/hash.h"
#include "linalg/sparse/choose.h"
#include "linalg/sparse/row_product.h"

namespace femgpu::linalg
{
namespace
{
/// Selects entries of strong connections; see choose().
struct StrongEntries
{
  CsrView<double> A;
  int n_columns; ///< columns that are considered
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

/// The state of a node in the choice of a set: out, undecided or in, by the two highest bits; below
/// these its hash, and its number to break ties. 0: it has an aggregate, or never gets one.
using Key = unsigned long long;
constexpr Key is_in = Key{1} << 63U, is_undecided = Key{1} << 62U;

enum Membership : int
{
  no_aggregate = -1,    ///< not yet
  never_aggregate = -2, ///< isolated
};

struct FirstKey
{
  RowPatternView graph;
  long long first;
  int *root_of;
  Key *keys;

  FEMGPU_HD
  void operator()(const int i) const
  {
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

/// Takes a node into the set if its key is the largest within two connections; nodes as close to
/// one in the set are out.
struct Decide
{
  LargestKey largest_near; ///< over the largest keys around each node
  Key *keys;
  int *is_one_left; ///< 1 if a node stays undecided; nullptr: not needed

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
    else if (is_one_left != nullptr)
      store_together(is_one_left, 1);
  }
};

/// Makes nodes of the set roots if enough of their neighbours have no aggregate.
struct FindRoots
{
  RowPatternView graph;
  const int *root_of;
  const Key *keys;
  int least;
  int *is_root;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int n_free = 0;
    if ((keys[i] & is_in) != 0)
      for (int k = graph.row_starts[i]; k < graph.row_starts[i + 1]; ++k)
        n_free += root_of[graph.columns[k]] == no_aggregate ? 1 : 0;
    is_root[i] = n_free >= least ? 1 : 0;
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

/// Finds the aggregate of most neighbours of a node; ties go to the smallest one, then to the
/// first.
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
    int best = root_of[i], most = 0;
    for (int k = graph.row_starts[i]; root_of[i] == no_aggregate && k < graph.row_starts[i + 1];
         ++k) {
      const int root = root_of[graph.columns[k]];
      if (root < 0 || root == best)
        continue;
      const int n = neighbours_of(i, root);
      const bool wins_tie =
          n == most && (sizes[root] < sizes[best] || (sizes[root] == sizes[best] && root < best));
      if (n > most || wins_tie) {
        best = root;
        most = n;
      }
    }
    joined[i] = best;
  }
};

/// Rounds between two checks by the host, which wait for running steps. Most sets take 8 to 14
/// rounds; a round without changes reads one key per node.
constexpr int rounds_at_once = 4;

/// Chooses another set of roots among nodes that have none, which take their neighbours.
/// @param least number of neighbours that a root has to take
template <class Backend>
void add_roots(const ExecutorPtr &executor, const RowPatternView &graph, const Buffer<Key> &hashes,
               const int least, Buffer<int> &roots)
{
  const auto n = static_cast<int>(roots.size());
  Runner<Backend> runner(*executor);
  Buffer<Key> all_keys(executor, roots.size()), largest_keys(executor, roots.size());
  Buffer<int> all_flags(executor, roots.size());
  Key *const keys = all_keys.data(), *const near = largest_keys.data();
  int *const flags = all_flags.data(), *const root_of = roots.data();
  runner.run(rows(n, [root_of, keys, near, hashes = hashes.data()] FEMGPU_BODY(const int i) {
    keys[i] = root_of[i] == no_aggregate ? hashes[i] | is_undecided : 0;
    near[i] = keys[i];
  }));
  const LargestKey of_keys{graph, keys}, of_near{graph, near};
  Buffer<int> is_one_left(executor, 1);
  do {
    is_one_left.fill_zero();
    for (int round = 1; round <= rounds_at_once; ++round) {
      runner.run(rows(n, [of_keys, near] FEMGPU_BODY(const int i) {
        if ((near[i] & is_undecided) != 0) // decided nodes do not change
          near[i] = of_keys(i);
      }));
      const bool asks = round == rounds_at_once;
      runner.run(rows(n, Decide{of_near, keys, asks ? is_one_left.data() : nullptr}));
    }
  } while (is_one_left.to_host()[0] != 0);
  runner.run(rows(n, FindRoots{graph, root_of, keys, least, flags}));
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
      add_to(sizes + root_of[i], 1);
    is_root[i] = root_of[i] == i ? 1 : 0;
  }));
  Aggregates result{0, Buffer<int>(executor, roots.size()), RowPattern()};
  runner.run(rows(n, JoinNeighbours{graph, root_of, sizes, result.of_node.data()}));
  Buffer<int> numbers(executor, roots.size() + 1);
  result.n = static_cast<int>(total_counts<Backend>(executor, is_root, n).sum);
  scan_counts<Backend>(executor, is_root, n, numbers.data());
  runner.run(rows(n, [of_node = result.of_node.data(), numbers = numbers.data()] FEMGPU_BODY(
                         const int i) { of_node[i] = of_node[i] < 0 ? -1 : numbers[of_node[i]]; }));
  result.nodes = sorted_nodes<Backend>(executor, result.n, result.of_node);
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
  RowPattern strong = choose<Backend>(pattern_of(A), choice, n, what).pattern;
  if (are_rows)
    return strong;
  // N has the node of each row: Nᵀ S N connects nodes, also each with itself.
  Buffer<int> rows_in_order(owner, static_cast<std::size_t>(n) + 1);
  int *const in_order = rows_in_order.data();
  Runner<Backend>(*owner).run(
      rows(n + 1, [in_order] FEMGPU_BODY(const int i) { in_order[i] = i; }));
  const auto n_entries = static_cast<std::size_t>(n);
  const PatternRef N{owner, {in_order, nodes.of_row.data()}, n, nodes.n(), n_entries};
  const PatternRef N_transposed{owner, {nodes.starts.data(), in_order}, nodes.n(), n, n_entries};
  const RowPattern SN = multiply<Backend>(pattern_of(owner, strong), N, what);
  const RowPattern NSN = multiply<Backend>(N_transposed, pattern_of(owner, SN, nodes.n()), what);
  const PatternRef all = pattern_of(owner, NSN);
  return choose<Backend>(all, EntriesWhere<IsOffDiagonal>{all.view(), {}}, nodes.n(), what).pattern;
}

template <class Backend>
RowPattern sorted_nodes(const ExecutorPtr &executor, const int n_aggregates,
                        const Buffer<int> &of_node)
{
  const auto n = static_cast<int>(of_node.size());
  RowPattern result{Buffer<int>(executor, static_cast<std::size_t>(n_aggregates) + 1),
                    Buffer<int>(executor, of_node.size())};
  Buffer<int> unsorted_keys(executor, of_node.size()), sorted_keys(executor, of_node.size());
  int *const keys = unsorted_keys.data(), *const sorted = sorted_keys.data();
  int *const starts = result.row_starts.data();
  Runner<Backend> runner(*executor);
  runner.run(rows(n, [keys, n_aggregates, of_node = of_node.data()] FEMGPU_BODY(const int i) {
    keys[i] = of_node[i] < 0 ? n_aggregates : of_node[i];
  }));
  sort_by_key<Backend>(executor, keys, n, n_aggregates + 1, sorted, result.columns.data());
  runner.run(rows(n_aggregates + 1, [n, sorted, starts] FEMGPU_BODY(const int a) {
    starts[a] = lower_bound(sorted, 0, n, a);
  }));
  return result;
}

template <class Backend>
Aggregation<Backend>::Aggregation(const ExecutorPtr &executor, const RowPattern &graph,
                                  const long long first)
    : executor(executor), graph(graph.view()),
      hashes(executor, static_cast<std::size_t>(graph.n())), root_of(executor, hashes.size())
{
  Runner<Backend>(*executor).run(
      rows(graph.n(), FirstKey{this->graph, first, root_of.data(), hashes.data()}));
  add_roots<Backend>(executor, this->graph, hashes, 1, root_of);
}

template <class Backend>
Aggregates Aggregation<Backend>::aggregates(const int least_neighbours) const
{
  Buffer<int> roots = root_of.copy();
  add_roots<Backend>(executor, graph, hashes, least_neighbours, roots);
  return join_others<Backend>(executor, graph, roots);
}

template RowPattern strong_connections<ThisBackend>(const CsrMatrix &, const Nodes &,
                                                    const double *, double);
template RowPattern sorted_nodes<ThisBackend>(const ExecutorPtr &, int, const Buffer<int> &);
template class Aggregation<ThisBackend>;
} // namespace femgpu::linalg
