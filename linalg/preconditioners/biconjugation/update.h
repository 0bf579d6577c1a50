#ifndef femgpu_linalg_preconditioners_biconjugation_update_h
#define femgpu_linalg_preconditioners_biconjugation_update_h

#include "linalg/preconditioners/biconjugation/pivots.h"
#include "linalg/sparse/column_set.h"
#include "linalg/sparse/row_workspace.h"

#include <cstddef>

/**
 * @file
 * The second half of a round of the factorisation Wᵀ A Z = D: the update of the remaining columns.
 */
namespace femgpu::linalg
{
constexpr int largest_team = 256;

/// The rule by which off-diagonal entries of a column are kept.
struct DropRule
{
  double drop; ///< entries of a larger magnitude are kept
  int fill;    ///< at most this many of these entries are kept, the largest; 0: all
};

/// Sizes of the data of a column's update.
struct UpdateSize
{
  std::size_t n_pivots;        ///< pivots that change the column
  std::size_t n_pivot_entries; ///< entries of the columns of these pivots
  std::size_t length;          ///< entries of the column

  /// Returns the size of the workspace in doubles for @p n_factors factors and a team of
  /// @p n_threads threads.
  FEMGPU_HD
  std::size_t doubles(const int n_factors, const int n_threads) const
  {
    const std::size_t n_entries = length + n_pivot_entries;
    const std::size_t ints = 2 * n_pivots + 2 + static_cast<std::size_t>(n_threads) + n_entries;
    return doubles_for_ints(ints) + static_cast<std::size_t>(n_factors) * (n_pivots + n_entries);
  }
  /// Returns the size of the workspace in doubles for the search for the pivots.
  FEMGPU_HD
  std::size_t doubles_for_set() const
  {
    return doubles_for_ints(n_pivots + ColumnSet::size(static_cast<int>(n_pivots)));
  }
};

/// A column under construction, in the workspace of a team.
template <int n_factors>
struct NewColumn
{
  int *pivots;               ///< the pivots that change the column, ascending
  int *offsets;              ///< n_pivots + 1: start of the entries of each pivot's column
  int *counts;               ///< entries that each thread stores, then their position in the pool
  int *rows;                 ///< row of each entry; the entries of the old column come first
  double *factors;           ///< coefficients of the pivots, n_factors x n_pivots
  double *values[n_factors]; ///< the entries in these rows
  int n_pivots, n_old, n_entries;

  FEMGPU_HD
  NewColumn(double *memory, const UpdateSize &size, const int n_threads)
      : pivots(reinterpret_cast<int *>(memory)), offsets(pivots + size.n_pivots),
        counts(offsets + size.n_pivots + 1), rows(counts + n_threads + 1),
        n_pivots(static_cast<int>(size.n_pivots)), n_old(static_cast<int>(size.length)),
        n_entries(static_cast<int>(size.length + size.n_pivot_entries))
  {
    const std::size_t ints = 2 * size.n_pivots + 2 + static_cast<std::size_t>(n_threads) +
                             size.length + size.n_pivot_entries;
    factors = memory + doubles_for_ints(ints);
    for (int factor = 0; factor < n_factors; ++factor)
      values[factor] = factors + n_factors * size.n_pivots +
                       static_cast<std::size_t>(factor) * static_cast<std::size_t>(n_entries);
  }

  /// Returns the position of a pivot in `pivots`; -1 if it is absent.
  FEMGPU_HD
  int find(const int pivot) const
  {
    const int position = lower_bound(pivots, 0, n_pivots, pivot);
    return position < n_pivots && pivots[position] == pivot ? position : -1;
  }

  FEMGPU_HD
  double magnitude(const int e) const
  {
    double largest = fabs(values[0][e]);
    for (int factor = 1; factor < n_factors; ++factor)
      largest = fabs(values[factor][e]) > largest ? fabs(values[factor][e]) : largest;
    return largest;
  }
};

/**
 * Updates a column: z_j −= Σ_i (z_jᵀ Aᵀ w_i / p_i) z_i, and w_j −= Σ_i (w_jᵀ A z_i / q_i) w_i, with
 * sums over all pivots i of the round. For AINV, the products have e_i instead of w_i and z_i.
 * Entries are dropped from the complete sum. Pivots are processed in ascending order, and the
 * products with them are summed in the order of the rows of the column, so that the result does not
 * depend on the teams. The new column is appended to the pool.
 */
template <int n_factors>
struct UpdateColumn
{
  ColumnsView<n_factors> Z;
  RoundView<n_factors> round;
  const int *A_starts; ///< start of the products of each row
  DropRule rule;
  unsigned long long capacity; ///< entries of the pool
  int *updated;                ///< for each column: the last round that changed it
  std::size_t *needs;          ///< for each column: doubles needed if the workspace was too small,
                               ///< else 0

  template <class Team, class RowWorkspace>
  FEMGPU_HD
  bool operator()(const Team &team, const RowWorkspace &workspace) const
  {
    const int j = workspace.row, begin = Z.starts[j], length = Z.lengths[j];
    if (round.pivot_round[j] != 0 || updated[j] == round.round)
      return true;
    UpdateSize size = bound(team, begin, length);
    if (size.n_pivots == 0)
      return true;
    const std::size_t need = max_of(size.doubles_for_set(), size.doubles(n_factors, largest_team));
    bool fits = size.doubles_for_set() <= workspace.size;
    if (fits) {
      size = find_pivots(team, begin, size, workspace.memory);
      fits = size.doubles(n_factors, team.size()) <= workspace.size;
    }
    if (team.rank() == 0 && !fits)
      atomic_add(&round.status->n_too_large, 1);
    if (team.rank() == 0)
      needs[j] = fits ? 0 : need;
    if (!fits)
      return false;
    const NewColumn<n_factors> column(workspace.memory, size, team.size());
    find_factors(team, begin, column);
    subtract_pivots(team, begin, column);
    store(team, j, column, drop_threshold(team, j, column));
    return true;
  }

  FEMGPU_HD
  static std::size_t max_of(const std::size_t a, const std::size_t b)
  {
    return a > b ? a : b;
  }

  /// Returns upper bounds of the number of pivots that change a column and of the number of entries
  /// in these pivots' columns: pivots are counted once for each product.
  template <class Team>
  FEMGPU_HD
  UpdateSize bound(const Team &team, const int begin, const int length) const
  {
    double n_pivots = 0., n_pivot_entries = 0.;
    for (int e = team.rank(); e < length; e += team.size()) {
      const int row = Z.rows[begin + e];
      if (round.last_touched[row] != round.round)
        continue;
      const int *const owners = round.product_owners + A_starts[row];
      n_pivots += round.n_products[row];
      for (int q = 0; q < round.n_products[row]; ++q)
        n_pivot_entries += Z.lengths[owners[q]];
    }
    n_pivots = team.sum(n_pivots);
    n_pivot_entries = n_pivots > 0. ? team.sum(n_pivot_entries) : 0.;
    return {static_cast<std::size_t>(n_pivots < round.n ? n_pivots : round.n),
            static_cast<std::size_t>(n_pivot_entries), static_cast<std::size_t>(length)};
  }

  /// Stores the pivots that change a column, ascending, at the beginning of @p memory. Returns the
  /// exact sizes.
  template <class Team>
  FEMGPU_HD
  UpdateSize find_pivots(const Team &team, const int begin, const UpdateSize &upper_bound,
                         double *memory) const
  {
    int *const pivots = reinterpret_cast<int *>(memory);
    ColumnSet set(pivots + upper_bound.n_pivots, static_cast<int>(upper_bound.n_pivots));
    set.clear(team);
    for (int e = team.rank(); e < static_cast<int>(upper_bound.length); e += team.size()) {
      const int row = Z.rows[begin + e];
      if (round.last_touched[row] != round.round)
        continue;
      for (int q = 0; q < round.n_products[row]; ++q)
        set.insert(team, round.product_owners[A_starts[row] + q]);
    }
    const int n_pivots = set.n_columns(team);
    set.store_sorted(team, pivots);
    double n_pivot_entries = 0.;
    for (int k = team.rank(); k < n_pivots; k += team.size())
      n_pivot_entries += Z.lengths[pivots[k]];
    n_pivot_entries = team.sum(n_pivot_entries);
    return {static_cast<std::size_t>(n_pivots), static_cast<std::size_t>(n_pivot_entries),
            upper_bound.length};
  }

  /// Computes (z_jᵀ Aᵀ w_i) / p_i for the pivots i and, with two factors, (w_jᵀ A z_i) / q_i.
  template <class Team>
  FEMGPU_HD
  void find_factors(const Team &team, const int begin, const NewColumn<n_factors> &column) const
  {
    for (int k = team.rank(); k < n_factors * column.n_pivots; k += team.size())
      column.factors[k] = 0.;
    team.sync();
    for (int e = 0; e < column.n_old; ++e) {
      const int row = Z.rows[begin + e];
      if (round.last_touched[row] != round.round)
        continue;
      const int first = A_starts[row], n = round.n_products[row];
      // Owners in a short list are distinct, so that threads do not conflict.
      const bool is_short = n <= longest_merged_list;
      const int stride = is_short ? team.size() : 1;
      for (int q = is_short || team.rank() == 0 ? team.rank() : n; q < n; q += stride) {
        const int k = column.find(round.product_owners[first + q]);
        for (int factor = 0; factor < n_factors; ++factor)
          column.factors[factor * column.n_pivots + k] +=
              Z.values[factor][begin + e] * round.products[factor][first + q];
      }
      team.sync();
    }
    for (int k = team.rank(); k < column.n_pivots; k += team.size())
      for (int factor = 0; factor < n_factors; ++factor)
        column.factors[factor * column.n_pivots + k] /= round.pivots[factor][column.pivots[k]];
    if (team.rank() == 0) {
      int offset = column.n_old;
      for (int k = 0; k < column.n_pivots; ++k) {
        column.offsets[k] = offset;
        offset += Z.lengths[column.pivots[k]];
      }
      column.offsets[column.n_pivots] = offset;
    }
    team.sync();
  }

  /// Stores the entries of the column, then the pivots' columns times the negated factors. If one
  /// of these has an entry in the same row as the column, adds it to the column's entry.
  template <class Team>
  FEMGPU_HD
  void subtract_pivots(const Team &team, const int begin, const NewColumn<n_factors> &column) const
  {
    for (int k = 0; k < column.n_pivots; ++k) {
      const int from = Z.starts[column.pivots[k]], to = column.offsets[k];
      const int length = column.offsets[k + 1] - to;
      for (int e = team.rank(); e < length; e += team.size()) {
        column.rows[to + e] = Z.rows[from + e];
        for (int factor = 0; factor < n_factors; ++factor)
          column.values[factor][to + e] =
              -(column.factors[factor * column.n_pivots + k] * Z.values[factor][from + e]);
      }
    }
    team.sync();
    for (int e = team.rank(); e < column.n_old; e += team.size()) {
      const int row = Z.rows[begin + e], owner = round.owners[row];
      const int k = owner < 0 ? -1 : column.find(owner);
      column.rows[e] = row;
      for (int factor = 0; factor < n_factors; ++factor) {
        double value = Z.values[factor][begin + e];
        if (k >= 0) {
          double &subtracted = column.values[factor][column.offsets[k] + round.positions[row]];
          value += subtracted;
          subtracted = 0.; // will be dropped
        }
        column.values[factor][e] = value;
      }
    }
    team.sync();
  }

  /// Returns the magnitude above which entries are kept.
  template <class Team>
  FEMGPU_HD
  double drop_threshold(const Team &team, const int j, const NewColumn<n_factors> &column) const
  {
    double cutoff = rule.drop;
    if (rule.fill == 0 || count_above(team, j, column, cutoff) <= rule.fill)
      return cutoff;
    double upper_bound = 0.; // no entry exceeds the sum of all
    for (int e = team.rank(); e < column.n_entries; e += team.size())
      upper_bound += column.magnitude(e);
    upper_bound = team.sum(upper_bound);
    for (int bisection = 0; bisection < 60; ++bisection) {
      const double middle = 0.5 * (cutoff + upper_bound);
      if (count_above(team, j, column, middle) > rule.fill)
        cutoff = middle;
      else
        upper_bound = middle;
    }
    return upper_bound;
  }

  template <class Team>
  FEMGPU_HD
  double count_above(const Team &team, const int j, const NewColumn<n_factors> &column,
                     const double cutoff) const
  {
    double n = 0.;
    for (int e = team.rank(); e < column.n_entries; e += team.size())
      n += column.rows[e] != j && !(column.magnitude(e) <= cutoff) ? 1. : 0.;
    return team.sum(n);
  }

  /// Stores the new column. Each thread handles consecutive entries, which preserves their order.
  template <class Team>
  FEMGPU_HD
  void store(const Team &team, const int j, const NewColumn<n_factors> &column,
             const double cutoff) const
  {
    const int n = column.n_entries, entries_per_thread = (n + team.size() - 1) / team.size();
    const int first = entries_per_thread * team.rank() < n ? entries_per_thread * team.rank() : n;
    const int last = first + entries_per_thread < n ? first + entries_per_thread : n;
    const auto is_retained = [&](const int e) {
      return column.rows[e] == j || !(column.magnitude(e) <= cutoff); // keeps NaN
    };
    int n_retained = 0, at = 0, length = 0;
    double n_products = 0.;
    for (int e = first; e < last; ++e)
      if (is_retained(e)) {
        ++n_retained;
        n_products += A_starts[column.rows[e] + 1] - A_starts[column.rows[e]];
      }
    column.counts[team.rank()] = n_retained;
    team.sync();
    for (int thread = 0; thread < team.size(); ++thread) {
      at += thread < team.rank() ? column.counts[thread] : 0;
      length += column.counts[thread];
    }
    n_products = round.is_shortest_first ? team.sum(n_products) : 0.;
    const int position = reserve_entries(team, length, column);
    if (position < 0)
      return;
    at += position;
    for (int e = first; e < last; ++e)
      if (is_retained(e)) {
        Z.rows[at] = column.rows[e];
        for (int factor = 0; factor < n_factors; ++factor) {
          const double value = column.values[factor][e];
          Z.values[factor][at] = fabs(value) <= rule.drop && column.rows[e] != j ? 0. : value;
        }
        ++at;
      }
    if (team.rank() == 0) {
      Z.starts[j] = position;
      Z.lengths[j] = length;
      if (round.is_shortest_first)
        round.keys[j] = key_of(n_products, static_cast<unsigned int>(round.keys[j]));
      updated[j] = round.round;
    }
  }

  /// Reserves @p length entries at the end of the pool. Returns the position of the first one on
  /// all threads; -1 if the pool is full.
  template <class Team>
  FEMGPU_HD
  int reserve_entries(const Team &team, const int length, const NewColumn<n_factors> &column) const
  {
    int *const position = column.counts + team.size();
    if (team.rank() == 0) {
      const auto n_requested = static_cast<unsigned long long>(length);
      const unsigned long long first = atomic_add(&round.status->used, n_requested);
      *position = first + n_requested <= capacity ? static_cast<int>(first) : -1;
      if (*position < 0)
        atomic_add(&round.status->n_unallocated, 1);
    }
    team.sync();
    return *position;
  }
};
} // namespace femgpu::linalg

#endif
