#ifndef femgpu_linalg_preconditioners_biconjugation_pivots_h
#define femgpu_linalg_preconditioners_biconjugation_pivots_h

#include "linalg/base/atomic.h"
#include "linalg/sparse/row_pattern.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

/**
 * @file
 * The growing factors of an approximate inverse, Wᵀ A Z = D, in the executor's memory, and the
 * first half of a round of the factorisation: the choice of pivots, and the products of A with
 * their columns. A round takes several independent pivots, see Biconjugation (factors.h).
 */
namespace femgpu::linalg
{
/**
 * The columns z_j of Z and, with two factors, w_j of W. With one factor, w_j is z_j. Columns z_j
 * and w_j have the same rows, which are unsorted, but in a reproducible order.
 */
template <int n_factors>
struct ColumnsView
{
  int *starts, *lengths; ///< first entry, and number of entries, of each column
  int *rows;
  double *values[n_factors]; ///< entries of Z, and of W

  /// Returns the index of the factor that determines the coefficients in updates of @p factor: an
  /// update of z_j uses Aᵀ w_i, an update of w_j uses A z_i.
  static constexpr int other(const int factor)
  {
    return n_factors - 1 - factor;
  }
};

/// Sets numbers[i] = i for all i < @p n.
template <class Backend>
void fill_iota(const ExecutorPtr &executor, int *const numbers, const int n)
{
  Runner<Backend>(*executor).run(rows(n, [=] FEMGPU_BODY(const int i) { numbers[i] = i; }));
}

template <int n_factors>
struct CopyColumn
{
  static constexpr int team_size = 32, scratch = 0;
  ColumnsView<n_factors> from, to; // their columns have equal lengths

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int j) const
  {
    const int begin = from.starts[j], new_begin = to.starts[j];
    for (int e = team.rank(); e < from.lengths[j]; e += team.size()) {
      to.rows[new_begin + e] = from.rows[begin + e];
      for (int factor = 0; factor < n_factors; ++factor)
        to.values[factor][new_begin + e] = from.values[factor][begin + e];
    }
  }
};

/**
 * The memory that all columns of the factors share. A changed column is appended to the pool; its
 * former memory is reclaimed by move().
 */
template <class Backend, int n_factors>
class ColumnPool
{
public:
  /// Creates the columns of the unit matrix.
  ColumnPool(const ExecutorPtr &executor, const int n)
      : executor(executor), n(n), starts(executor, static_cast<std::size_t>(n) + 1),
        lengths(executor, static_cast<std::size_t>(n))
  {
    allocate(std::max<std::size_t>(8 * static_cast<std::size_t>(n), 1024));
    fill_iota<Backend>(executor, starts.data(), n);
    fill_iota<Backend>(executor, entry_rows.data(), n);
    Runner<Backend> runner(*executor);
    runner.run(rows(n, FillWith<int>{lengths.data(), 1}));
    for (Buffer<double> &factor : values)
      runner.run(rows(n, FillWith<double>{factor.data(), 1.}));
  }

  /// Returns a view that is valid until the pool moves.
  ColumnsView<n_factors> view()
  {
    ColumnsView<n_factors> result{starts.data(), lengths.data(), entry_rows.data(), {}};
    for (int factor = 0; factor < n_factors; ++factor)
      result.values[factor] = values[factor].data();
    return result;
  }
  std::size_t capacity() const
  {
    return entry_rows.size();
  }

  /**
   * Moves the columns, contiguously, to a new pool of twice their size or more, but of at most
   * max_indices entries.
   * @return the number of entries in use
   * @throws DeviceError if memory is insufficient
   * @throws SolverError if the columns have, or will soon have, more than max_indices entries
   */
  std::size_t move()
  {
    const auto used =
        static_cast<std::size_t>(total_counts<Backend>(executor, lengths.data(), n).sum);
    const std::size_t limit = max_indices;
    const std::size_t new_capacity = std::min(2 * used + 4 * static_cast<std::size_t>(n), limit);
    if (used + used / 8 > limit)
      throw SolverError("The factors of the approximate inverse have " + std::to_string(used) +
                        " entries and keep growing, but the limit is " + std::to_string(limit) +
                        ". Raise drop=TOL, or set fill=K.");
    ColumnPool old(std::move(*this));
    executor = old.executor;
    starts = Buffer<int>(executor, static_cast<std::size_t>(n) + 1);
    scan_counts<Backend>(executor, old.lengths.data(), n, starts.data());
    allocate(new_capacity);
    ColumnsView<n_factors> to = view();
    to.lengths = old.lengths.data();
    Runner<Backend>(*executor).run(teams(n, CopyColumn<n_factors>{old.view(), to}));
    lengths = std::move(old.lengths);
    executor->synchronize(); // before the old memory is freed
    return used;
  }

private:
  ColumnPool(ColumnPool &&other) noexcept = default;

  void allocate(const std::size_t capacity)
  {
    entry_rows = Buffer<int>(executor, capacity);
    for (Buffer<double> &factor : values)
      factor = Buffer<double>(executor, capacity);
  }

  ExecutorPtr executor;
  int n;
  Buffer<int> starts, lengths, entry_rows;
  Buffer<double> values[n_factors];
};

using ColumnKey = unsigned long long;
constexpr ColumnKey no_key = ~0ULL;

/// Returns the key of column @p number. Columns with fewer @p products have smaller keys; different
/// numbers have different keys.
FEMGPU_HD
ColumnKey key_of(const double products, const unsigned int number)
{
  const double limit = 2147483647.;
  return static_cast<ColumnKey>(products < limit ? products : limit) << 32U | number;
}

/// A on the pattern of A + Aᵀ with a full diagonal: the values of Aᵀ and, with two factors, of A.
template <int n_factors>
struct SystemView
{
  RowPatternView pattern;
  const double *values[n_factors];
};

/// Counters of a round, in the memory of the executor.
struct RoundStatus
{
  unsigned long long used;        ///< entries requested from the pool, including failed requests
  int n_pivots;                   ///< pivots found in all rounds
  int n_too_large, n_unallocated; ///< columns for which the workspace, or the pool, was too small
  int bad_pivot;                  ///< column of the first bad pivot of this round; n: none
};

/**
 * Data of rows and columns in a round. The columns of the round's pivots have no common rows; hence
 * each row has at most one owner, the pivot whose column contains the row.
 */
template <int n_factors>
struct RoundView
{
  int round, n;
  bool is_stabilised;        ///< SAINV instead of AINV
  bool is_shortest_first;    ///< columns with the cheapest A z_j come first
  ColumnKey *keys;           ///< for each column: smaller keys come first
  ColumnKey *min_keys;       ///< for each row: the smallest key of the columns that contain it
  int *pivot_round;          ///< for each column: the round in which it became a pivot; 0: none yet
  double *pivots[n_factors]; ///< pivots p_i of z_i, and q_i of w_i
  int *owners;               ///< for each row: its owner, or -1
  int *positions;            ///< for each row: its position in the owner's column
  double *owned[n_factors];  ///< for each row: its value in the owner's column; AINV: as in I
  int *last_touched;         ///< for each row: the last round with a pivot i such that A z_i has
                             ///< an entry in the row
  int *n_products;     ///< for each row: number of its products, which start where A's row does
  int *product_owners; ///< pivot i of each product
  double *products[n_factors]; ///< entries of Aᵀ w_i and A z_i
  RoundStatus *status;
};

/// If a row has at most this many products, each owner occurs only once in its list of products.
constexpr int longest_merged_list = 64;

/// Lowers min_keys of the rows of column j to the key of j. If column j became a pivot in the
/// previous round, clears the owners of its rows instead.
template <int n_factors>
struct LowerRowKeys
{
  static constexpr int team_size = 32, scratch = 0;
  ColumnsView<n_factors> Z;
  RoundView<n_factors> round;
  const int *columns; ///< the remaining columns, and some former pivots

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int j = columns[item], pivot_round = round.pivot_round[j];
    if (pivot_round != 0 && pivot_round != round.round - 1)
      return;
    const int *const rows = Z.rows + Z.starts[j];
    for (int e = team.rank(); e < Z.lengths[j]; e += team.size())
      if (pivot_round == 0)
        atomic_min(round.min_keys + rows[e], round.keys[j]);
      else
        round.owners[rows[e]] = -1;
  }
};

/**
 * Makes a column a pivot if it precedes all columns with which it has a product z_jᵀ A z_i, even
 * one of value 0. Hence pivots of a round have no products with each other and, because A has a
 * full diagonal, no common rows.
 */
template <int n_factors>
struct SelectPivot
{
  static constexpr int team_size = 32, scratch = 0;
  SystemView<n_factors> A;
  ColumnsView<n_factors> Z;
  RoundView<n_factors> round;
  const int *columns;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int i = columns[item], begin = Z.starts[i], length = Z.lengths[i];
    if (round.pivot_round[i] != 0 || !is_first(team, i, begin, length))
      return;
    claim_rows(team, i, begin, length);
    team.sync();
    find_pivots(team, i, begin, length);
    if (team.rank() == 0) {
      round.pivot_round[i] = round.round;
      atomic_add(&round.status->n_pivots, 1);
    }
  }

  template <class Team>
  FEMGPU_HD
  bool is_first(const Team &team, const int i, const int begin, const int length) const
  {
    const ColumnKey key = round.keys[i];
    double n_before = 0.;
    for (int e = team.rank(); e < length && n_before == 0.; e += team.size())
      n_before += round.min_keys[Z.rows[begin + e]] < key ? 1. : 0.;
    if (team.sum(n_before) > 0.)
      return false;
    for (int e = 0; e < length; ++e) {
      const int row = Z.rows[begin + e], end = A.pattern.row_starts[row + 1];
      for (int k = A.pattern.row_starts[row] + team.rank(); k < end && n_before == 0.;
           k += team.size())
        n_before += round.min_keys[A.pattern.columns[k]] < key ? 1. : 0.;
      if (team.sum(n_before) > 0.)
        return false;
    }
    return true;
  }

  template <class Team>
  FEMGPU_HD
  void claim_rows(const Team &team, const int i, const int begin, const int length) const
  {
    for (int e = team.rank(); e < length; e += team.size()) {
      const int row = Z.rows[begin + e];
      round.owners[row] = i;
      round.positions[row] = e;
      for (int factor = 0; factor < n_factors; ++factor)
        round.owned[factor][row] = round.is_stabilised ? Z.values[factor][begin + e]
                                   : row == i          ? 1.
                                                       : 0.;
    }
  }

  /**
   * Computes the pivots p_i and q_i. SAINV: p_i = q_i = w_iᵀ A z_i. AINV: p_i = a_iᵀ z_i and q_i =
   * c_iᵀ w_i with row a_i and column c_i of A; p_i and q_i are equal as long as nothing is dropped.
   */
  template <class Team>
  FEMGPU_HD
  void find_pivots(const Team &team, const int i, const int begin, const int length) const
  {
    constexpr int w = n_factors - 1;
    for (int factor = round.is_stabilised ? w : 0; factor < n_factors; ++factor) {
      const double pivot = find_pivot(team, factor, i, begin, length);
      if (team.rank() == 0)
        round.pivots[factor][i] = pivot;
      if (team.rank() == 0 && round.is_stabilised)
        round.pivots[0][i] = pivot;
    }
  }

  /// Returns z_iᵀ Aᵀ w_i or w_iᵀ A z_i; for AINV, the last vector is e_i. Marks the rows of A z_i
  /// and Aᵀ w_i, and records a bad pivot.
  template <class Team>
  FEMGPU_HD
  double find_pivot(const Team &team, const int factor, const int i, const int begin,
                    const int length) const
  {
    double pivot = 0., magnitude = 0.;
    for (int e = 0; e < length; ++e) {
      const int row = Z.rows[begin + e], end = A.pattern.row_starts[row + 1];
      const bool has_product = round.is_stabilised || row == i;
      const double z_e = Z.values[factor][begin + e];
      for (int k = A.pattern.row_starts[row] + team.rank(); k < end; k += team.size()) {
        const int column = A.pattern.columns[k];
        if (has_product)
          store_relaxed(round.last_touched + column, round.round);
        if (round.owners[column] != i)
          continue;
        const double term = z_e * (A.values[factor][k] *
                                   round.owned[ColumnsView<n_factors>::other(factor)][column]);
        pivot += term;
        magnitude += fabs(term);
      }
    }
    pivot = team.sum(pivot);
    magnitude = team.sum(magnitude);
    if (team.rank() == 0 && !is_good(pivot, magnitude))
      atomic_min(&round.status->bad_pivot, i);
    return pivot;
  }

  FEMGPU_HD
  static bool is_good(const double pivot, const double magnitude)
  {
    constexpr double smallest = 1e-14; // relative to the pivot's terms: less is rounding error
    const double size = n_factors == 1 ? pivot : fabs(pivot);
    return size > smallest * magnitude && size - size == 0.;
  }
};

/// Computes the entries in row s of the products A z_i and Aᵀ w_i for the pivots i of a round.
template <int n_factors>
struct MultiplyPivots
{
  SystemView<n_factors> A;
  RoundView<n_factors> round;

  FEMGPU_HD
  void operator()(const int s) const
  {
    round.min_keys[s] = no_key; // for the next round
    if (round.last_touched[s] != round.round)
      return;
    const int begin = A.pattern.row_starts[s];
    int n = 0;
    for (int k = begin; k < A.pattern.row_starts[s + 1]; ++k) {
      const int column = A.pattern.columns[k], owner = round.owners[column];
      if (owner < 0)
        continue;
      const int position = find(begin, n, owner);
      for (int factor = 0; factor < n_factors; ++factor) {
        const double term =
            A.values[factor][k] * round.owned[ColumnsView<n_factors>::other(factor)][column];
        round.products[factor][begin + position] =
            position < n ? round.products[factor][begin + position] + term : term;
      }
      round.product_owners[begin + position] = owner;
      n = position < n ? n : n + 1;
    }
    round.n_products[s] = n;
  }

  /// Returns the position of the owner among the first n products of a row; n if it is absent. Long
  /// lists are not searched: only the last product is compared.
  FEMGPU_HD
  int find(const int begin, const int n, const int owner) const
  {
    const int first = n < longest_merged_list ? 0 : n - 1;
    for (int q = first; q < n; ++q)
      if (round.product_owners[begin + q] == owner)
        return q;
    return n;
  }
};
} // namespace femgpu::linalg

#endif
