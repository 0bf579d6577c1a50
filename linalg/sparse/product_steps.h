#ifndef femgpu_linalg_sparse_product_steps_h
#define femgpu_linalg_sparse_product_steps_h

#include "linalg/sparse/row_product.h"

/**
 * @file
 * Bodies of steps (linalg/steps/steps.h) that compute the values of a matrix product with a known
 * pattern.
 */
namespace femgpu::linalg
{
/// The operands of C = A B, where the pattern of C is known. A may have any number of entries.
struct ProductSystem
{
  CsrView<double> A, B;
  RowPatternView C;
  int lanes;            ///< neighbouring threads that share a row of B
  bool only_upper;      ///< computes only the upper triangle of C,
  const int *full_rows; ///< but all of row i if full_rows[i] is 1; nullptr: there is no such row
  double *values;       ///< values of C

  /// Returns the first column of row i of C that is computed.
  FEMGPU_HD
  int first_column(const int i) const
  {
    return only_upper && (full_rows == nullptr || full_rows[i] == 0) ? i : 0;
  }
};

/**
 * Computes a row of C = A B that has few columns, with a team of few threads. Subteams take one row
 * of B each, and search simultaneously for the columns of its entries in the row of C; then the
 * subteams add their products, one after the other, in the order of k. The sums and columns of the
 * row of C are in scratch. The columns are padded to a power of two, so that a step of the search
 * takes few instructions.
 */
struct AddShortProductRow
{
  static constexpr int team_size = 8, scratch = 0;
  ProductSystem product;
  const int *is_long; ///< for each row: 1 if another step computes it; nullptr: no such row
  int capacity;       ///< maximum number of columns of a row

  /// Returns the scratch in doubles for rows of @p capacity columns.
  static int scratch_for(const int capacity)
  {
    return capacity +
           static_cast<int>(doubles_for_ints(static_cast<std::size_t>(padded(capacity))));
  }

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    if (is_long != nullptr && is_long[i] != 0)
      return;
    const int begin_of_C = product.C.row_starts[i], length = product.C.length(i);
    double *const sums = team.scratch();
    int *const columns = reinterpret_cast<int *>(sums + capacity);
    for (int p = team.rank(); p < padded(length); p += team.size())
      columns[p] = p < length ? product.C.columns[begin_of_C + p] : max_indices;
    for (int p = team.rank(); p < length; p += team.size())
      sums[p] = 0.;
    team.sync();
    add_pairs(team, i, columns, padded(length) / 2, sums);
    for (int p = team.rank(); p < length; p += team.size())
      product.values[begin_of_C + p] = sums[p];
  }

private:
  /// Returns the smallest power of two that is at least @p n and at least 2.
  FEMGPU_HD
  static int padded(const int n)
  {
    int size = 2;
    while (size < n)
      size *= 2;
    return size;
  }

  /// The remaining entries of a row of B for a thread, and their factor a_ik.
  struct Entries
  {
    int l = 0, end = 0;
    double a = 0.;
  };
  FEMGPU_HD
  Entries load(const RowEntries<double> &row, const int position, const int lane) const
  {
    if (position >= row.length)
      return {};
    const int k = row.columns[position];
    return {product.B.row_starts.low[k] + lane, product.B.row_starts.low[k + 1],
            row.values[position]};
  }

  template <class Team>
  FEMGPU_HD
  void add_pairs(const Team &team, const int i, const int *columns, const int first_step,
                 double *sums) const
  {
    const int first_column = product.first_column(i);
    const auto find = [&](const int l) {
      const int column = product.B.columns[l];
      int position = 0;
      for (int step = first_step; step > 0; step /= 2)
        position += columns[position + step] <= column ? step : 0;
      return column < first_column ? -1 : position;
    };
    const int width = product.lanes < team.size() ? product.lanes : team.size();
    const int n_subteams = team.size() / width, subteam = team.rank() / width;
    const int lane = team.rank() % width;
    const RowEntries<double> row = product.A.entries(i);
    Entries next = load(row, subteam, lane);
    for (int first = 0; first < row.length; first += n_subteams) {
      Entries entries = next;
      next = load(row, first + n_subteams + subteam, lane); // in flight during the following work
      int position = entries.l < entries.end ? find(entries.l) : -1;
      for (int turn = 0; turn < n_subteams; ++turn) {
        if (turn == subteam)
          while (entries.l < entries.end) {
            if (position >= 0)
              sums[position] += entries.a * product.B.values[entries.l];
            entries.l += width;
            if (entries.l < entries.end)
              position = find(entries.l);
          }
        team.sync(); // the next subteam sees these sums
      }
    }
  }
};

/**
 * Computes C_ij = Σ_k a_ik b_kj, in the order of k, by one team for each group of rows of A with
 * the same columns. Subteams of `lanes` threads process one k each at a time. Simultaneously, all
 * subteams load the a_ik of all rows and the entries of row k of B, and search the columns of these
 * entries in the rows of C; then they add, one subteam after the other in the order of k. So no two
 * threads add to the same sum at a time, and the order of additions does not depend on the team.
 *
 * The sums are in scratch if the rows of C fit, otherwise in the values of C. A pair a_ik b_kj
 * costs 12 bytes of B, mostly from caches; one addition in scratch; and, once per group, a search
 * of log2(length) steps in the row of C. A is read once and C is written once (12 and 16 bytes per
 * entry).
 */
template <int team_size_, int max_rows>
struct AddProductRows
{
  static constexpr int team_size = team_size_, scratch = 0;
  ProductSystem product;
  RowGroupsView groups;
  const int *group_of_item; ///< group of each item
  int capacity;             ///< doubles of scratch

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const RowRange range = groups[group_of_item[item]];
    const int n_sums = product.C.row_starts[range.end] - product.C.row_starts[range.begin];
    double *const values = product.values + product.C.row_starts[range.begin];
    double *const sums = n_sums <= capacity ? team.scratch() : values;
    for (int p = team.rank(); p < n_sums; p += team.size())
      sums[p] = 0.;
    team.sync();
    add_pairs(team, range, sums);
    if (sums != values)
      for (int p = team.rank(); p < n_sums; p += team.size())
        values[p] = sums[p];
  }

private:
  /// A thread's current entry of row k of B, the factors a_ik of this entry, and the range of the
  /// thread's remaining entries.
  struct Pairs
  {
    double a[max_rows] = {}, b = 0.;
    int l = 0, end = 0; ///< l >= end: none is left
    int column = 0;
  };

  /// Loads a thread's first pairs.
  /// @param row the first row of A in the group
  /// @param position position of a_ik in this row; there are no pairs if it is the end of the row
  FEMGPU_HD
  Pairs load(const RowEntries<double> &row, const int position, const int lane,
             const int n_rows) const
  {
    Pairs pairs;
    if (position >= row.length)
      return pairs;
    const int k = row.columns[position];
    pairs.l = product.B.row_starts.low[k] + lane;
    pairs.end = product.B.row_starts.low[k + 1];
    if (pairs.l < pairs.end) {
      for (int r = 0; r < max_rows; ++r)
        if (r < n_rows)
          pairs.a[r] = row.values[position + r * row.length];
      pairs.b = product.B.values[pairs.l];
      pairs.column = product.B.columns[pairs.l];
    }
    return pairs;
  }

  template <class Team>
  FEMGPU_HD
  void add_pairs(const Team &team, const RowRange range, double *sums) const
  {
    const int width = product.lanes < team.size() ? product.lanes : team.size();
    const int n_subteams = team.size() / width, subteam = team.rank() / width;
    const int lane = team.rank() % width;
    const int i = range.begin, n_rows = range.end - i;
    const int begin_of_C = product.C.row_starts[i], length_of_C = product.C.length(i);
    const int first_column = product.first_column(i);
    // Returns the position of a column in row i of C, not before `from`; -1 if the entry is not
    // computed.
    const auto find = [&](const int column, const int from) {
      return column < first_column ? -1 : product.C.find(i, column, from);
    };
    const RowEntries<double> row = product.A.entries(i);
    Pairs next = load(row, subteam, lane, n_rows);
    for (int first = 0; first < row.length; first += n_subteams) {
      Pairs pairs = next;
      // in flight during the following work
      next = load(row, first + n_subteams + subteam, lane, n_rows);
      int position = pairs.l < pairs.end ? find(pairs.column, begin_of_C) : -1;
      const int n_turns = row.length - first < n_subteams ? row.length - first : n_subteams;
      for (int turn = 0; turn < n_turns; ++turn) {
        if (turn == subteam)
          while (pairs.l < pairs.end) {
            if (position >= 0)
              for (int r = 0; r < max_rows; ++r)
                if (r < n_rows)
                  sums[position - begin_of_C + r * length_of_C] += pairs.a[r] * pairs.b;
            pairs.l += width;
            if (pairs.l < pairs.end) {
              pairs.b = product.B.values[pairs.l];
              position = find(product.B.columns[pairs.l], position < 0 ? begin_of_C : position);
            }
          }
        team.sync(); // the next subteam sees these sums
      }
    }
  }
};

/// Computes a row of C = A B by one thread of the host. The scratch holds the position of each
/// column in the row of C, so that a pair needs no search. This takes one number per column and
/// thread, which is little compared to C.
struct AddHostProductRow
{
  static constexpr int team_size = 1, scratch = 0;
  ProductSystem product;

  template <class Team>
  void operator()(const Team &team, const int i) const
  {
    int *const positions = reinterpret_cast<int *>(team.scratch());
    const RowPatternView &C = product.C;
    for (int p = C.row_starts[i]; p < C.row_starts[i + 1]; ++p) {
      positions[C.columns[p]] = p;
      product.values[p] = 0.;
    }
    const CsrView<double> &B = product.B;
    const RowEntries<double> row = product.A.entries(i);
    const int first_column = product.first_column(i);
    for (int m = 0; m < row.length; ++m) {
      const int k = row.columns[m], end = B.row_starts.low[k + 1];
      const double a_ik = row.values[m];
      const int begin = B.row_starts.low[k];
      for (int l = lower_bound(B.columns, begin, end, first_column); l < end; ++l)
        product.values[positions[B.columns[l]]] += a_ik * B.values[l];
    }
  }
};

/// Sets C_ij = C_ji for the entries of row i of C that have not been computed.
struct MirrorRow
{
  static constexpr int team_size = 8, scratch = 0;
  ProductSystem product;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    const RowPatternView &C = product.C;
    const int first_column = product.first_column(i);
    for (int k = C.row_starts[i] + team.rank(); k < C.row_starts[i + 1]; k += team.size())
      if (C.columns[k] < first_column)
        product.values[k] = product.values[C.find_transposed(i, k)];
  }
};

/// Sets full_rows[i] = 1 for all rows i of a group if it is 1 for one of them, or if C lacks an
/// entry (j, i) for an entry (i, j) with j < i.
struct CompleteFullRows
{
  static constexpr int team_size = 8, scratch = 0;
  RowPatternView C;
  RowGroupsView groups;
  int *full_rows;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int group) const
  {
    const auto [begin, end] = groups[group];
    int is_full = 0;
    for (int i = begin; i < end; ++i) {
      is_full |= full_rows[i];
      for (int k = C.row_starts[i] + team.rank(); k < C.row_starts[i + 1]; k += team.size())
        if (C.columns[k] < i && C.find_transposed(i, k) < 0)
          is_full = 1;
    }
    const bool is_any_full = team.sum(is_full) > 0.;
    for (int i = begin + team.rank(); i < end; i += team.size())
      full_rows[i] = is_any_full ? 1 : 0;
  }
};

/// The maximum number of sums C_ij and of pairs a_ik b_kj that a team processes.
struct TeamLimits
{
  int max_sums, max_pairs;
};

/// Chooses the team for each group of rows: a small team, a warp or a block.
struct ChooseTeam
{
  LongPatternView A;
  RowPatternView B, C;
  RowGroupsView groups;
  int longest_of_B;
  TeamLimits small_team_limits, warp_limits;
  int *is_long, *is_for_warp, *is_for_block;

  FEMGPU_HD
  bool is_within(const int group, const TeamLimits limits) const
  {
    const auto [begin, end] = groups[group];
    if (C.row_starts[end] - C.row_starts[begin] > limits.max_sums)
      return false;
    return static_cast<double>(A.length(begin)) * longest_of_B <= limits.max_pairs ||
           ProductBound{A, B, limits.max_pairs}(begin) < limits.max_pairs;
  }
  FEMGPU_HD
  void operator()(const int group) const
  {
    const bool is_short = is_within(group, small_team_limits);
    const bool is_small = is_short || is_within(group, warp_limits);
    is_long[group] = is_short ? 0 : 1;
    is_for_warp[group] = !is_short && is_small ? 1 : 0;
    is_for_block[group] = is_small ? 0 : 1;
  }
};
} // namespace femgpu::linalg

#endif
