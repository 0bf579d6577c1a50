#include "linalg/preconditioners/multigrid/prolongation.h"

#include "linalg/sparse/row_product.h"
#include "linalg/sparse/select_entries.h"

#include <algorithm>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// The rows that belong to the nodes of each aggregate.
struct AggregateRows
{
  RowPatternView nodes; ///< nodes of each aggregate
  const int *starts;    ///< first row of each node

  /// Calls f(row) for the rows of aggregate @p a, by all threads of a team.
  template <class Team, class Function>
  FEMGPU_HD
  void for_each(const Team &team, const int a, const Function &f) const
  {
    for (int k = nodes.row_starts[a] + team.rank(); k < nodes.row_starts[a + 1]; k += team.size())
      for (int i = starts[nodes.columns[k]]; i < starts[nodes.columns[k] + 1]; ++i)
        f(i);
  }
};

/// Factorises B = Q R on the rows of each aggregate. A vector counts as dependent on the previous
/// ones if orthogonalisation leaves less than a millionth of its length.
struct Orthonormalise
{
  static constexpr int team_size = 8, scratch = 0;
  AggregateRows aggregates;
  int count;
  double *Q; ///< B, and then Q
  double *R; ///< count² per aggregate, row by row; 0 initially
  int *ranks;
  int *pivots; ///< for each aggregate: the chosen columns of Q in order, at most `count`

  template <class Team>
  FEMGPU_HD
  double product(const Team &team, const int a, const int c, const int d) const
  {
    double sum = 0.;
    aggregates.for_each(team, a, [&](const int i) {
      const double *const q = Q + static_cast<std::size_t>(i) * count;
      sum += q[c] * q[d];
    });
    return team.sum(sum);
  }

  /// Computes q_d = factor q_d − dot q_c on the rows of aggregate @p a.
  template <class Team>
  FEMGPU_HD
  void combine(const Team &team, const int a, const int d, const double factor, const int c,
               const double dot) const
  {
    aggregates.for_each(team, a, [&](const int i) {
      double *const q = Q + static_cast<std::size_t>(i) * count;
      q[d] = factor * q[d] - (dot != 0. ? dot * q[c] : 0.);
    });
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int a) const
  {
    constexpr double min_norm_squared = 1e-12; // (1e-6)²
    double initial[NearNullVectors::max_vectors];
    bool is_remaining[NearNullVectors::max_vectors];
    for (int c = 0; c < count; ++c) {
      initial[c] = product(team, a, c, c);
      is_remaining[c] = initial[c] > 0.;
    }
    double *const R_a = R + static_cast<std::size_t>(a) * count * count;
    int rank = 0;
    for (; rank < count; ++rank) {
      int pivot = -1;
      double best = min_norm_squared, norm_squared = 0.;
      for (int c = 0; c < count; ++c) {
        const double remaining = is_remaining[c] ? product(team, a, c, c) : 0.;
        if (is_remaining[c] && remaining > best * initial[c]) {
          pivot = c;
          best = remaining / initial[c];
          norm_squared = remaining;
        }
      }
      if (pivot < 0)
        break;
      is_remaining[pivot] = false;
      const double norm = sqrt(norm_squared);
      combine(team, a, pivot, 1. / norm, pivot, 0.);
      if (team.rank() == 0) {
        R_a[rank * count + pivot] = norm;
        pivots[a * count + rank] = pivot;
      }
      for (int c = 0; c < count; ++c) {
        if (!is_remaining[c])
          continue;
        const double dot = product(team, a, pivot, c);
        combine(team, a, c, 1., pivot, dot);
        if (team.rank() == 0)
          R_a[rank * count + c] = dot;
      }
    }
    if (team.rank() == 0)
      ranks[a] = rank;
  }
};

/// Stores row i of P̂, whose columns are the coarse rows of the row's aggregate.
struct StoreTentative
{
  const int *node_of_row, *aggregate_of_node; ///< the aggregate of each node; -1: none
  int count;
  const double *Q;
  const int *pivots, *coarse_starts;
  const int *row_starts;
  int *columns;
  double *values;

  FEMGPU_HD
  void operator()(const int i) const
  {
    const int a = aggregate_of_node[node_of_row[i]];
    if (a < 0)
      return;
    const int first = coarse_starts[a], at = row_starts[i];
    for (int s = 0; first + s < coarse_starts[a + 1]; ++s) {
      columns[at + s] = first + s;
      values[at + s] = Q[static_cast<std::size_t>(i) * count + pivots[a * count + s]];
    }
  }
};

/// Stores the nodes and near-null vectors of the coarse rows that represent an aggregate.
struct StoreCoarseRows
{
  int count;
  const double *R;
  const int *coarse_starts;
  int *node_of_row;
  double *near_null;

  FEMGPU_HD
  void operator()(const int a) const
  {
    const int first = coarse_starts[a], rank = coarse_starts[a + 1] - first;
    for (int s = 0; s < rank; ++s)
      node_of_row[first + s] = a;
    for (int k = 0; k < rank * count; ++k)
      near_null[static_cast<std::size_t>(first) * count + k] =
          R[static_cast<std::size_t>(a) * count * count + k];
  }
};

struct IsStrongOrDiagonal
{
  RowPatternView graph;

  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return i == j || graph.find(i, j) >= 0;
  }
};

/// Computes row i of A_F so that (A_F b)_i = (A b)_i.
struct FilterRow
{
  static constexpr int team_size = 8, scratch = 0;
  CsrView<double> A;
  RowPatternView filtered;
  const int *sources;
  const double *b;
  double *values;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    const int begin = filtered.row_starts[i], end = filtered.row_starts[i + 1];
    double dropped = 0.;
    int position = begin;
    for (int k = A.row_starts.low[i] + team.rank(); k < A.row_starts.low[i + 1]; k += team.size()) {
      while (position < end && sources[position] < k)
        ++position;
      if (position < end && sources[position] == k)
        values[position] = A.values[k];
      else
        dropped += A.values[k] * b[A.columns[k]];
    }
    dropped = team.sum(dropped);
    team.sync();                        // values are stored
    if (team.rank() == 0 && b[i] != 0.) // b_i is 0 if row i has only a diagonal entry
      values[filtered.find(i, i)] += dropped / b[i];
  }
};

/// Computes row i of P̂ − ω D⁻¹ A_F P̂ in place of A_F P̂. The pattern of A_F P̂ includes that of
/// P̂, because A has a full diagonal.
struct SmoothProlongationRow
{
  CsrView<double> tentative;
  const double *inverse_diagonal;
  double omega;
  RowPatternView P;
  double *values;

  FEMGPU_HD
  void operator()(const int i) const
  {
    const double factor = -omega * inverse_diagonal[i];
    for (int k = P.row_starts[i]; k < P.row_starts[i + 1]; ++k)
      values[k] *= factor;
    for (int k = tentative.row_starts.low[i]; k < tentative.row_starts.low[i + 1]; ++k)
      values[P.find(i, tentative.columns[k])] += tentative.values[k];
  }
};
} // namespace

template <class Backend>
TentativeProlongation make_tentative(const RowSpacePtr &range, const Nodes &nodes,
                                     const Aggregates &aggregates, const NearNullVectors &B)
{
  const ExecutorPtr &executor = range->executor();
  Runner<Backend> runner(*executor);
  const int n = static_cast<int>(nodes.node_of_row.size()), count = B.count;
  const auto n_aggregates = static_cast<std::size_t>(aggregates.n);
  const auto width = static_cast<std::size_t>(count);
  Buffer<double> Q = B.values.copy(), R(executor, n_aggregates * width * width);
  Buffer<int> ranks(executor, n_aggregates), pivots(executor, n_aggregates * width);
  R.fill_zero();
  runner.run(teams(aggregates.n, Orthonormalise{{aggregates.nodes.view(), nodes.starts.data()},
                                                count,
                                                Q.data(),
                                                R.data(),
                                                ranks.data(),
                                                pivots.data()}));

  TentativeProlongation result;
  const auto n_coarse =
      static_cast<int>(total_counts<Backend>(executor, ranks.data(), aggregates.n).sum);
  const auto n_rows = static_cast<std::size_t>(n_coarse);
  result.nodes = {Buffer<int>(executor, n_aggregates + 1), Buffer<int>(executor, n_rows)};
  int *const coarse_starts = result.nodes.starts.data();
  scan_counts<Backend>(executor, ranks.data(), aggregates.n, coarse_starts);
  result.near_null.count = count;
  result.near_null.values = Buffer<double>(executor, n_rows * width);
  runner.run(rows(aggregates.n,
                  StoreCoarseRows{count, R.data(), coarse_starts, result.nodes.node_of_row.data(),
                                  result.near_null.values.data()}));

  Buffer<int> lengths(executor, nodes.node_of_row.size());
  const int *const node_of_row = nodes.node_of_row.data(), *const aggregate_of_node =
                                                               aggregates.aggregate_of_node.data();
  runner.run(rows(n, [node_of_row, aggregate_of_node, ranks = ranks.data(),
                      lengths = lengths.data()] FEMGPU_BODY(const int i) {
    const int a = aggregate_of_node[node_of_row[i]];
    lengths[i] = a < 0 ? 0 : ranks[a];
  }));
  RowPattern pattern = make_rows<Backend>(executor, lengths, "A prolongation");
  Buffer<double> values(executor, pattern.columns.size());
  runner.run(rows(n, StoreTentative{node_of_row, aggregate_of_node, count, Q.data(), pivots.data(),
                                    coarse_starts, pattern.row_starts.data(),
                                    pattern.columns.data(), values.data()}));
  auto domain = std::make_shared<RowSpace>(*range, n_coarse);
  if (range->communicator() != nullptr)
    domain = std::make_shared<RowSpace>(*domain, std::vector<long long>());
  result.P = std::make_shared<CsrMatrix>(range, domain, std::move(pattern.row_starts),
                                         std::move(pattern.columns), std::move(values));
  return result;
}

template <class Backend>
DerivedPattern filtered_pattern(const CsrMatrix &A, const RowPattern &graph)
{
  const PatternRef pattern = pattern_of(A);
  // Every row has a diagonal entry, which is not in the graph.
  if (graph.columns.size() + static_cast<std::size_t>(A.n()) == A.n_nonzeros())
    return {};
  return select_entries<Backend>(pattern,
                                 EntriesWhere<IsStrongOrDiagonal>{pattern.view(), {graph.view()}},
                                 A.n(), "A prolongation");
}

namespace
{
/// A selector for select_entries() that makes the pattern of node_pattern().
struct NodeEntries
{
  RowPatternView A;
  int n;
  const int *starts, *node_of_row;

  FEMGPU_HD
  int row(const int node) const
  {
    return starts[node] < n ? starts[node] : n - 1; // the last nodes may have no rows
  }
  template <class Function>
  FEMGPU_HD
  void visit(const int i, const int k, const Function &f) const
  {
    if (k >= A.row_starts[i + 1] || A.columns[k] >= n) // ghosts have no nodes
      return;
    const int node = node_of_row[A.columns[k]];
    if (starts[node] == A.columns[k])
      f(node, k);
  }
};
} // namespace

template <class Backend>
RowPattern node_pattern(const PatternRef &A, const Nodes &nodes)
{
  return select_entries<Backend>(
             A, NodeEntries{A.view(), A.n, nodes.starts.data(), nodes.node_of_row.data()},
             nodes.n(), "The pattern of nodes")
      .pattern;
}

template <class Backend>
double estimate_entries(const PatternRef &A, const PatternRef *filtered,
                        const Aggregates &aggregates)
{
  constexpr int n_sampled = 64; // error of a few per cent, at low cost
  const std::string what = "Some rows of a coarse matrix";
  const ExecutorPtr &owner = A.executor;
  const RowPatternView nodes = aggregates.nodes.view();
  const RowList sample = sample_rows<Backend>(owner, RowList{aggregates.n}, n_sampled);
  RowPattern rows =
      select_entries<Backend>(pattern_of(owner, aggregates.nodes, A.n),
                              EntriesWhere<AnyColumn>{nodes, {}, sample.data()}, sample.n, what)
          .pattern;
  const auto multiply_by = [&](const PatternRef &B) {
    rows = multiply<Backend>(pattern_of(owner, rows, B.n), B, what);
  };
  if (filtered != nullptr) // the pattern of A_F is symmetric
    multiply_by(*filtered);
  multiply_by(A);
  if (filtered != nullptr)
    multiply_by(*filtered);
  // Nodes in no aggregate count as one more aggregate.
  RowPattern members{Buffer<int>(owner, static_cast<std::size_t>(A.n) + 1),
                     Buffer<int>(owner, static_cast<std::size_t>(A.n))};
  Runner<Backend>(*owner).run(
      linalg::rows(A.n + 1, [n = A.n, none = aggregates.n,
                             aggregate_of_node = aggregates.aggregate_of_node.data(),
                             starts = members.row_starts.data(),
                             columns = members.columns.data()] FEMGPU_BODY(const int i) {
        starts[i] = i;
        if (i < n)
          columns[i] = aggregate_of_node[i] < 0 ? none : aggregate_of_node[i];
      }));
  multiply_by(pattern_of(owner, members, aggregates.n + 1));
  return static_cast<double>(rows.columns.size()) * aggregates.n / std::max(sample.n, 1);
}

template <class Backend>
SmoothedProlongation<Backend>::SmoothedProlongation(const CsrMatrix &A, DerivedPattern pattern,
                                                    std::shared_ptr<const CsrMatrix> P,
                                                    NearNullVectors B,
                                                    const double *const inverse_diagonal,
                                                    const double omega)
    : n_entries(A.n_nonzeros()), tentative(std::move(P)), near_null(std::move(B)),
      sources(std::move(pattern.sources))
{
  if (sources.size() > 0)
    filtered = make_matrix(A.range(), A.domain(), std::move(pattern.pattern));
  if (A.range()->communicator() != nullptr) {
    tentative_rows =
        std::make_unique<GhostRows<Backend>>(*A.domain(), *tentative, Multiplies::vectors);
    if (near_null.count == 1) // collective: also on ranks where A_F is A
      near_null.values = A.domain()->with_ghosts(near_null.values.data());
  }
  set_values(A, inverse_diagonal, omega);
}

template <class Backend>
void SmoothedProlongation<Backend>::update(const CsrMatrix &A, const double *const inverse_diagonal,
                                           const double omega)
{
  check_same_pattern("A prolongation", A, n_entries);
  set_values(A, inverse_diagonal, omega);
}

template <class Backend>
void SmoothedProlongation<Backend>::set_values(const CsrMatrix &A,
                                               const double *const inverse_diagonal,
                                               const double omega)
{
  Runner<Backend> runner(*A.executor());
  if (filtered)
    runner.run(teams(A.n(), FilterRow{A.csr_view(), pattern_of(*filtered).view(), sources.data(),
                                      near_null.values.data(), filtered->mutable_values()}));
  const CsrMatrix &A_F = filtered ? *filtered : A;
  const CsrMatrix &all_rows = tentative_rows ? tentative_rows->matrix() : *tentative;
  if (product)
    product->update(A_F, all_rows);
  else
    product = std::make_unique<Product<Backend>>(A_F, all_rows);
  CsrMatrix &P = product->mutable_matrix();
  runner.run(rows(A.n(), SmoothProlongationRow{tentative->csr_view(), inverse_diagonal, omega,
                                               pattern_of(P).view(), P.mutable_values()}));
}

template TentativeProlongation make_tentative<ThisBackend>(const RowSpacePtr &, const Nodes &,
                                                           const Aggregates &,
                                                           const NearNullVectors &);
template DerivedPattern filtered_pattern<ThisBackend>(const CsrMatrix &, const RowPattern &);
template RowPattern node_pattern<ThisBackend>(const PatternRef &, const Nodes &);
template double estimate_entries<ThisBackend>(const PatternRef &, const PatternRef *,
                                              const Aggregates &);
template class SmoothedProlongation<ThisBackend>;
} // namespace femgpu::linalg
