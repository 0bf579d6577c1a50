#include "linalg/preconditioners/multigrid/hierarchy.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/base/trace_range.h"
#include "linalg/sparse/select_entries.h"
#include "linalg/sparse/symmetry.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace femgpu::linalg
{
namespace
{
constexpr int max_levels = 30;
constexpr double max_coarsening_ratio = 0.8; ///< ratio of rows above which coarsening stops
/// Aggregates stay small if A has at most this share of the entries of the finest matrix.
constexpr double negligible_fraction = 0.05;

/// Returns the operator complexity (entries of all levels' matrices, relative to the finest matrix)
/// above which larger aggregates are chosen.
double max_complexity(const int n_near_null)
{
  return n_near_null > 1 ? 1.8 : 1.5;
}

/// Returns the damping factor ω of I − ω D⁻¹ A (Vaněk, Mandel and Brezina 1996).
double damping(const double largest_eigenvalue)
{
  return 4. / 3. / largest_eigenvalue;
}

/// Waits for the kernels of A's executor. Returns the seconds since the last lap.
double lap(const Matrix &A, Stopwatch &watch)
{
  A.executor()->synchronize();
  return watch.lap();
}

template <class Backend>
Nodes uniform_nodes(const CsrMatrix &A, const int block)
{
  const ExecutorPtr &owner = A.executor();
  const int n = A.n();
  if (n % block != 0)
    throw ParameterError("The matrix has " + std::to_string(n) + " rows, not a multiple of " +
                         std::to_string(block) +
                         " unknowns per node. Give multigrid a block that divides the number of "
                         "rows, for example block=1.");
  Nodes nodes{Buffer<int>(owner, static_cast<std::size_t>(n / block) + 1),
              Buffer<int>(owner, static_cast<std::size_t>(n))};
  int *const starts = nodes.starts.data(), *const node_of_row = nodes.node_of_row.data();
  Runner<Backend>(*owner).run(rows(n + 1, [=] FEMGPU_BODY(const int i) {
    if (i % block == 0)
      starts[i / block] = i;
    if (i < n)
      node_of_row[i] = i / block;
  }));
  return nodes;
}

/// Returns the row starts of @p pattern, with an empty row for each ghost; an empty buffer if it
/// has no ghost columns.
template <class Backend>
Buffer<int> starts_with_ghost_rows(const PatternRef &pattern)
{
  if (pattern.n == pattern.n_columns)
    return {};
  Buffer<int> starts(pattern.executor, static_cast<std::size_t>(pattern.n_columns) + 1);
  Runner<Backend>(*pattern.executor)
      .run(rows(pattern.n_columns + 1,
                [from = pattern.view().row_starts, n = pattern.n,
                 to = starts.data()] FEMGPU_BODY(const int i) { to[i] = from[i < n ? i : n]; }));
  return starts;
}

/// A pattern with an empty row for each ghost, so that it is square.
template <class Backend>
struct PatternWithGhostRows
{
  explicit PatternWithGhostRows(const PatternRef &input)
      : row_starts(starts_with_ghost_rows<Backend>(input)), pattern(input)
  {
    if (row_starts.size() > 0)
      pattern.rows.row_starts = row_starts.data();
    pattern.n = input.n_columns;
  }

  Buffer<int> row_starts;
  PatternRef pattern; ///< refers to row_starts and to the given pattern
};

/// Makes the matrix of a prolongation that the unknowns of A supply.
/// @throws ParameterError if the prolongation and A have different numbers of rows
std::shared_ptr<const CsrMatrix> supplied_prolongation(const CsrMatrix &A,
                                                       const CoarserUnknowns &coarser,
                                                       const std::vector<double> &scales)
{
  const HostProlongation &P = coarser.prolongation;
  if (P.row_starts.size() != static_cast<std::size_t>(A.n()) + 1)
    throw ParameterError("A prolongation of " + std::to_string(P.row_starts.size() - 1) +
                         " rows does not fit a matrix with " + std::to_string(A.n()) + " rows.");
  RawVector<double> scaled;
  if (!scales.empty()) {
    scaled = P.values;
    for (int i = 0; i < A.n(); ++i)
      for (int k = P.row_starts[i]; k < P.row_starts[i + 1]; ++k)
        scaled[k] /= scales[i];
  }
  const RawVector<double> &values = scales.empty() ? P.values : scaled;
  const ExecutorPtr &executor = A.executor();
  auto domain = std::make_shared<RowSpace>(*A.range(), P.n_columns);
  if (A.range()->communicator() != nullptr)
    domain = std::make_shared<RowSpace>(*domain, P.ghosts);
  return std::make_shared<CsrMatrix>(
      A.range(), domain, Buffer<int>(executor, P.row_starts.data(), P.row_starts.size()),
      Buffer<int>(executor, P.columns.data(), P.columns.size()),
      Buffer<double>(executor, values.data(), values.size()));
}
} // namespace

template <class Backend>
Hierarchy<Backend>::Hierarchy(const Matrix &A, const HierarchyOptions &input) : options(input)
{
  is_distributed = A.range()->communicator() != nullptr;
  if (!options.uses_supplied_levels || !A.csr().unknowns()->coarser.may_exist())
    pattern_of(A.csr()).view(); // aggregates count entries by int: rejects larger matrices early
  is_scaled = A.range()->max(A.csr().unknowns()->scales.empty() ? 0. : 1.) > 0.;
  symmetric = equals_transpose<Backend>(A.csr());
  if (!symmetric && options.smoother.preserves_symmetry())
    options.smoother.name = "l1-jacobi";
  add_level(A);
  const UnknownsPtr known = add_supplied_levels();
  const CsrMatrix &last = all_levels.back().A->csr();
  if (options.block == 0)
    options.block = std::max(known->per_node, 1);
  Nodes nodes = uniform_nodes<Backend>(last, options.block);
  NearNullVectors near_null =
      near_null_vectors<Backend>(last, *known, options.block, options.near_null);
  n_near_null = near_null.count;
  while (coarsen(nodes, near_null))
    add_level(*all_levels.back().next->coarse->matrix());
  finish_coarsest();
}

template <class Backend>
void Hierarchy<Backend>::add_level(const Matrix &A)
{
  const TraceRange range("smoother of level", all_levels.size());
  Stopwatch watch;
  Level<Backend> level;
  level.A = &A;
  SmootherChoice choice = options.smoother;
  choice.degree += static_cast<int>(all_levels.size());
  level.smoother = std::make_unique<Smoother<Backend>>(A, choice);
  level.report.smoother_seconds = lap(A, watch);
  all_levels.push_back(std::move(level));
}

/// Adds the levels for which Unknowns supply prolongations. Returns the unknowns of the last level.
template <class Backend>
UnknownsPtr Hierarchy<Backend>::add_supplied_levels()
{
  UnknownsPtr known = all_levels[0].A->csr().unknowns();
  while (options.uses_supplied_levels &&
         all_levels.back().A->range()->n_global() > options.coarsest) {
    const auto coarser = known->coarser.get();
    if (all_levels[0].A->range()->max(coarser ? 0. : 1.) > 0.) // missing on some rank
      break;
    Level<Backend> &level = all_levels.back();
    const CsrMatrix &A = level.A->csr();
    const TraceRange range("coarsening of level", all_levels.size() - 1);
    Stopwatch watch;
    auto next = std::make_unique<Transition<Backend>>();
    next->tentative = supplied_prolongation(A, *coarser, known->scales);
    level.report.prolongation_seconds = lap(A, watch);
    next->coarse = std::make_unique<GalerkinProduct<Backend>>(
        A, next->P(), symmetric ? ProductKind::symmetric : ProductKind::general);
    level.report.product_seconds = lap(A, watch);
    level.next = std::move(next);
    add_level(*all_levels.back().next->coarse->matrix());
    known = UnknownsPtr(coarser, &coarser->unknowns);
    ++n_supplied;
  }
  return known;
}

/// Adds a level of aggregates after the last level, unless the new level would have too many rows.
/// Returns whether a level was added; if so, replaces @p nodes and @p near_null by the nodes and
/// the near-null vectors of the new level.
template <class Backend>
bool Hierarchy<Backend>::coarsen(Nodes &nodes, NearNullVectors &near_null)
{
  Level<Backend> &level = all_levels.back();
  const CsrMatrix &A = level.A->csr();
  const auto depth = static_cast<int>(all_levels.size()) - 1 - n_supplied;
  const auto n_rows = static_cast<double>(A.range()->n_global());
  if (n_rows <= options.coarsest || depth + 1 == max_levels)
    return false;
  const TraceRange range("coarsening of level", all_levels.size() - 1);
  Stopwatch watch;
  const double *const diagonal = level.smoother->diagonal().entries();
  const Buffer<double> diagonal_with_ghosts =
      is_distributed ? A.domain()->with_ghosts(diagonal) : Buffer<double>();
  const RowPattern graph =
      strong_connections<Backend>(A, nodes, is_distributed ? diagonal_with_ghosts.data() : diagonal,
                                  options.theta * std::pow(0.5, depth));
  level.report.strength_seconds = lap(*level.A, watch);
  DerivedPattern filtered;
  if (symmetric && near_null.count == 1)
    filtered = filtered_pattern<Backend>(A, graph);
  level.report.prolongation_seconds = lap(*level.A, watch);
  const Aggregates aggregates = choose_aggregates(nodes, graph, filtered, near_null.count);
  watch.lap(); // choose_aggregates() has reported this time
  TentativeProlongation tentative =
      make_tentative<Backend>(A.range(), nodes, aggregates, near_null);
  const auto n_coarse = static_cast<double>(tentative.P->domain()->n_global());
  if (n_coarse == 0. || n_coarse > max_coarsening_ratio * n_rows)
    return false;
  level.report.aggregates = aggregates.n;
  level.report.prolongation_seconds += lap(*level.A, watch);
  level.next = make_transition(tentative.P, std::move(filtered),
                               std::exchange(near_null, std::move(tentative.near_null)));
  nodes = std::move(tentative.nodes);
  return true;
}

/// Returns aggregates of the last level: small ones, unless the coarse matrix would have too many
/// entries and larger aggregates reduce their number.
template <class Backend>
Aggregates Hierarchy<Backend>::choose_aggregates(const Nodes &nodes, const RowPattern &graph,
                                                 const DerivedPattern &filtered,
                                                 const int n_near_null)
{
  Level<Backend> &level = all_levels.back();
  const CsrMatrix &A = level.A->csr();
  const ExecutorPtr &owner = A.executor();
  Stopwatch watch;
  const bool has_rows_for_nodes = nodes.n() == A.n();
  const Aggregation<Backend> aggregation(owner, graph,
                                         has_rows_for_nodes ? A.n_columns() : nodes.n(),
                                         A.range()->first() / options.block);
  const auto make = [&](const int min_neighbours) {
    Aggregates aggregates = aggregation.aggregates(min_neighbours);
    level.report.aggregation_seconds += lap(*level.A, watch);
    return aggregates;
  };
  Aggregates small = make(2);
  if (static_cast<double>(A.n_nonzeros()) <=
      negligible_fraction * static_cast<double>(all_levels[0].A->n_nonzeros()))
    return small;
  const RowPattern nodes_pattern =
      has_rows_for_nodes ? RowPattern() : node_pattern<Backend>(pattern_of(A), nodes);
  const PatternWithGhostRows<Backend> all(has_rows_for_nodes ? pattern_of(A)
                                                             : pattern_of(owner, nodes_pattern)),
      filtered_rows(filtered.sources.size() > 0 ? pattern_of(owner, filtered.pattern, A.n_columns())
                                                : all.pattern);
  const auto complexity_with = [&](const Aggregates &aggregates) {
    const double pairs = estimate_entries<Backend>(
        all.pattern, symmetric ? &filtered_rows.pattern : nullptr, aggregates);
    level.report.product_seconds += lap(*level.A, watch);
    return complexity(pairs * n_near_null * n_near_null);
  };
  const double small_complexity = complexity_with(small);
  if (small_complexity <= 1. + 0.9 * (max_complexity(n_near_null) - 1.))
    return small;
  Aggregates large = make(6);
  return complexity_with(large) <= 0.95 * small_complexity ? std::move(large) : std::move(small);
}

/// Makes the transition from the last level to the next one.
template <class Backend>
std::unique_ptr<Transition<Backend>>
Hierarchy<Backend>::make_transition(const std::shared_ptr<const CsrMatrix> &tentative,
                                    DerivedPattern filtered, NearNullVectors near_null)
{
  Level<Backend> &level = all_levels.back();
  const CsrMatrix &A = level.A->csr();
  Stopwatch watch;
  auto next = std::make_unique<Transition<Backend>>();
  next->tentative = tentative;
  if (symmetric)
    next->smoothed = std::make_unique<SmoothedProlongation<Backend>>(
        A, std::move(filtered), next->tentative, std::move(near_null),
        level.smoother->diagonal().inverse(), damping(level.smoother->largest_eigenvalue()));
  level.report.prolongation_seconds += lap(*level.A, watch);
  next->coarse = std::make_unique<GalerkinProduct<Backend>>(
      A, next->P(), symmetric ? ProductKind::symmetric : ProductKind::general);
  level.report.product_seconds += lap(*level.A, watch);
  return next;
}

/// Inverts the coarsest matrix or, if it has too many rows, chooses a smoother of higher degree.
template <class Backend>
void Hierarchy<Backend>::finish_coarsest()
{
  constexpr long long factor_of_rows = 4;
  constexpr int factor_of_degree = 4;
  const TraceRange range("coarsest level");
  Stopwatch watch;
  Level<Backend> &level = all_levels.back();
  const CsrMatrix &A = level.A->csr();
  if (A.range()->n_global() <= factor_of_rows * options.coarsest) {
    coarsest_inverse = std::make_unique<DenseInverse<Backend>>(A, symmetric);
    level.smoother.reset();
    level.report.smoother_seconds += lap(*level.A, watch);
    return;
  }
  SmootherChoice more = options.smoother;
  more.degree *= factor_of_degree;
  level.smoother = std::make_unique<Smoother<Backend>>(*level.A, more);
  level.report.smoother_seconds += lap(*level.A, watch);
}

template <class Backend>
void Hierarchy<Backend>::update()
{
  for (Level<Backend> &level : all_levels) {
    const CsrMatrix &A = level.A->csr();
    LevelReport &report = level.report;
    const TraceRange range("update of level", static_cast<std::size_t>(&level - all_levels.data()));
    report.strength_seconds = report.aggregation_seconds = 0.;
    Stopwatch watch;
    if (level.smoother)
      level.smoother->update();
    else
      coarsest_inverse->update(A);
    report.smoother_seconds = lap(*level.A, watch);
    if (!level.next)
      continue;
    Transition<Backend> &next = *level.next;
    if (next.smoothed)
      next.smoothed->update(A, level.smoother->diagonal().inverse(),
                            damping(level.smoother->largest_eigenvalue()));
    else if (n_supplied > 0 && &level == &all_levels.front() && is_scaled)
      next.tentative = // the scales may have changed
          supplied_prolongation(A, *A.unknowns()->coarser.get(), A.unknowns()->scales);
    report.prolongation_seconds = lap(*level.A, watch);
    next.coarse->update(A, next.P());
    report.product_seconds = lap(*level.A, watch);
  }
}

template <class Backend>
std::size_t Hierarchy<Backend>::n_nonzeros() const
{
  std::size_t sum = 0;
  for (const Level<Backend> &level : all_levels)
    if (level.next)
      sum += level.next->P().n_nonzeros() + level.next->coarse->matrix()->n_nonzeros();
  return sum;
}

template <class Backend>
double Hierarchy<Backend>::complexity(const double entries_of_next) const
{
  double sum = entries_of_next;
  for (const Level<Backend> &level : all_levels)
    sum += static_cast<double>(level.A->n_nonzeros());
  return sum / static_cast<double>(std::max<std::size_t>(all_levels[0].A->n_nonzeros(), 1));
}

template <class Backend>
std::string Hierarchy<Backend>::description(const std::vector<LevelReport> &levels) const
{
  double n_rows = 0., n_entries = 0.;
  int n_rounded = 0, n_in_double = 0;
  std::ostringstream text;
  text.precision(3);
  if (n_supplied > 0)
    text << n_supplied << (n_supplied == 1 ? " level" : " levels") << " by given prolongations, ";
  if (n_supplied + 1 < static_cast<int>(all_levels.size()))
    text << (n_supplied > 0 ? "then " : "")
         << (symmetric ? "smoothed aggregation, " : "plain aggregation of an unsymmetric matrix, ");
  text << "nodes of " << options.block << ", " << n_near_null << " near-null vectors, "
       << all_levels.size() << " levels of rows x entries";
  for (std::size_t l = 0; l < all_levels.size(); ++l) {
    const Level<Backend> &level = all_levels[l];
    n_rows += static_cast<double>(levels[l].rows);
    n_entries += static_cast<double>(levels[l].nonzeros);
    text << (l == 0 ? " " : ", ") << levels[l].rows << " x " << levels[l].nonzeros;
    if (level.smoother) {
      text << " (λ " << level.smoother->largest_smoothed_eigenvalue() << ")";
      ++(level.smoother->is_rounded() ? n_rounded : n_in_double);
    }
  }
  text << ", operator complexity " << n_entries / std::max<double>(1., levels[0].nonzeros)
       << " and grid complexity " << n_rows / std::max<double>(1., levels[0].rows) << ", ";
  if (!coarsest_inverse)
    text << "the coarsest only smoothed";
  else if (coarsest_inverse->rank_deficiency() > 0)
    text << "the coarsest inverted except for " << coarsest_inverse->rank_deficiency() << " rows";
  else
    text << "the coarsest inverted";
  if (n_rounded > 0)
    text << ", products in float";
  if (options.smoother.rounds_to_float && n_in_double > 0)
    text << ", but in double on " << n_in_double
         << " levels with values outside the range of float";
  return text.str();
}

template <class Backend>
std::vector<LevelReport> Hierarchy<Backend>::reports() const
{
  std::vector<LevelReport> reports;
  for (const Level<Backend> &level : all_levels) {
    const RowSpace &rows = *level.A->range();
    const auto sum = [&](const std::size_t n) {
      return static_cast<std::size_t>(rows.sum(static_cast<double>(n)));
    };
    LevelReport &report = reports.emplace_back(level.report);
    report.rows = rows.n_global();
    report.nonzeros = sum(level.A->n_nonzeros());
    if (level.smoother)
      report.eigenvalue = level.smoother->largest_smoothed_eigenvalue();
    if (!level.next)
      continue;
    report.aggregates = static_cast<int>(sum(static_cast<std::size_t>(report.aggregates)));
    report.prolongation_nonzeros = sum(level.next->P().n_nonzeros());
  }
  return reports;
}

template class Hierarchy<ThisBackend>;
} // namespace femgpu::linalg
