#ifndef femgpu_linalg_sparse_product_steps_h
#define femgpu_linalg_sparse_product_steps_h

#include "linalg/sparse/row_product.h"

/**
 * @file
 * The values of a product of two matrices whose pattern is known.
 */
namespace femgpu::linalg
{
/// C = A B by rows, with C's pattern; of a symmetric C the upper triangle.
struct ProductSystem
{
  CsrView<double> A, B;
  RowPatternView C;
  int lanes; ///< neighbouring threads that share a row of B
  bool only_upper;
  double *values; ///< of C
};

/**
 * C_ij = Σ_k a_ik b_kj, in the order of k, by one team for each group of rows of A with the same
 * columns. Parts of `lanes` threads of the team have one k each at a time: they load the a_ik of
 * all rows and their entries of row k of B and search these in the rows of C side by side; then
 * they add, one part after the other in the order of k. So no two threads add to one sum at a time,
 * and a sum has its order whatever the team is.
 *
 * The sums are in scratch where the rows of C have room there, else they are the values of C. A
 * pair a_ik b_kj costs 12 bytes of B, mostly from caches, and log2 of the length of C's row steps
 * of the search, once for a group, and one addition in scratch; memory gives A once and takes C
 * once (12 and 16 bytes an entry).
 */
template <int team_size_, int most_rows>
struct AddProductRows
{
  static constexpr int team_size = team_size_, scratch = 0;
  ProductSystem product;
  RowGroupsView groups;
  const int *some;     ///< groups, of the items; nullptr: item i is group i
  const int *left_out; ///< of each group; nullptr: none is
  int room;            ///< doubles of scratch

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int item) const
  {
    const int group = some == nullptr ? item : some[item];
    if (left_out != nullptr && left_out[group] != 0)
      return;
    const RowRange range = groups[group];
    const int n_sums = product.C.row_starts[range.end] - product.C.row_starts[range.begin];
    double *const values = product.values + product.C.row_starts[range.begin];
    double *const sums = n_sums <= room ? team.scratch() : values;
    for (int p = team.rank(); p < n_sums; p += team.size())
      sums[p] = 0.;
    team.sync();
    add_pairs(team, range, sums);
    if (sums != values)
      for (int p = team.rank(); p < n_sums; p += team.size())
        values[p] = sums[p];
  }

private:
  /// What a thread has of row k of B: an entry, where it goes, and those that come after it.
  struct Pairs
  {
    double a[most_rows] = {}, b = 0.;
    int l = 0, end = 0; ///< none is left at the end
    int column = 0;
  };

  /// @param in_A the place of a_ik of the first row, before @p end_of_A or there are no pairs
  FEMGPU_HD
  Pairs load(const int in_A, const int end_of_A, const int lane, const int n_rows,
             const int length_of_A) const
  {
    Pairs pairs;
    if (in_A >= end_of_A)
      return pairs;
    const int k = product.A.columns[in_A];
    pairs.l = product.B.row_starts.low[k] + lane;
    pairs.end = product.B.row_starts.low[k + 1];
    if (pairs.l < pairs.end) {
      for (int r = 0; r < most_rows; ++r)
        if (r < n_rows)
          pairs.a[r] = product.A.values[in_A + r * length_of_A];
      pairs.b = product.B.values[pairs.l];
      pairs.column = product.B.columns[pairs.l];
    }
    return pairs;
  }

  /// The place of a column in row i of C, at @p from or after it; -1 where it is not computed.
  FEMGPU_HD
  int find(const int i, const int column, const int from) const
  {
    return product.only_upper && column < i ? -1 : product.C.find(i, column, from);
  }

  template <class Team>
  FEMGPU_HD
  void add_pairs(const Team &team, const RowRange range, double *sums) const
  {
    const int width = product.lanes < team.size() ? product.lanes : team.size();
    const int n_parts = team.size() / width, part = team.rank() / width;
    const int lane = team.rank() % width;
    const int i = range.begin, n_rows = range.end - i;
    const int begin_of_C = product.C.row_starts[i], length_of_C = product.C.length(i);
    const int begin = product.A.row_starts.low[i], end = product.A.row_starts.low[i + 1];
    Pairs next = load(begin + part, end, lane, n_rows, end - begin);
    for (int first = begin; first < end; first += n_parts) {
      Pairs pairs = next;
      // is under way during what follows
      next = load(first + n_parts + part, end, lane, n_rows, end - begin);
      int place = pairs.l < pairs.end ? find(i, pairs.column, begin_of_C) : -1;
      const int n_turns = end - first < n_parts ? end - first : n_parts;
      for (int turn = 0; turn < n_turns; ++turn) {
        if (turn == part)
          while (pairs.l < pairs.end) {
            if (place >= 0)
              for (int r = 0; r < most_rows; ++r)
                if (r < n_rows)
                  sums[place - begin_of_C + r * length_of_C] += pairs.a[r] * pairs.b;
            pairs.l += width;
            if (pairs.l < pairs.end) {
              pairs.b = product.B.values[pairs.l];
              place = find(i, product.B.columns[pairs.l], place < 0 ? begin_of_C : place);
            }
          }
        team.sync(); // the next part sees these sums
      }
    }
  }
};

/// The same by one thread of the host, whose scratch has the place of each column in the row of C:
/// a pair costs no search. An entry of each column for a thread is little beside C.
struct AddProductRowOfHost
{
  static constexpr int team_size = 1, scratch = 0;
  ProductSystem product;

  template <class Team>
  void operator()(const Team &team, const int i) const
  {
    int *const places = reinterpret_cast<int *>(team.scratch());
    const RowPatternView &C = product.C;
    for (int p = C.row_starts[i]; p < C.row_starts[i + 1]; ++p) {
      places[C.columns[p]] = p;
      product.values[p] = 0.;
    }
    const CsrView<double> &A = product.A, &B = product.B;
    for (int m = A.row_starts.low[i]; m < A.row_starts.low[i + 1]; ++m) {
      const int k = A.columns[m], end = B.row_starts.low[k + 1];
      const double a_ik = A.values[m];
      const int begin = B.row_starts.low[k];
      for (int l = product.only_upper ? lower_bound(B.columns, begin, end, i) : begin; l < end; ++l)
        product.values[places[B.columns[l]]] += a_ik * B.values[l];
    }
  }
};

/// Copies the upper triangle of a matrix with a symmetric pattern to the lower one.
struct MirrorRow
{
  static constexpr int team_size = 32, scratch = 0;
  RowPatternView C;
  double *values;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    for (int k = C.row_starts[i] + team.rank(); k < C.row_starts[i + 1]; k += team.size())
      if (C.columns[k] < i)
        values[k] = values[C.find_transposed(i, k)];
  }
};

/// Groups of rows whose sums have no room, or that have so many pairs that a team of 32 would be
/// the last.
struct MarkLargeGroup
{
  RowPatternView A, B, C;
  RowGroupsView groups;
  int room, most_pairs;
  int *is_large;

  FEMGPU_HD
  void operator()(const int group) const
  {
    const auto [begin, end] = groups[group];
    const bool has_room = C.row_starts[end] - C.row_starts[begin] <= room;
    is_large[group] = !has_room || ProductBound{A, B, most_pairs}(begin) >= most_pairs ? 1 : 0;
  }
};
} // namespace femgpu::linalg

#endif
