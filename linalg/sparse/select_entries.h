#ifndef femgpu_linalg_sparse_select_entries_h
#define femgpu_linalg_sparse_select_entries_h

#include "linalg/sparse/derived_matrix.h"

/**
 * @file
 * Selection of entries of patterns by functors.
 */
namespace femgpu::linalg
{
/// A selector for select_entries(): selects the entries (i, j) of some rows for which a predicate
/// holds.
template <class Predicate>
struct EntriesWhere
{
  RowPatternView A;
  Predicate is_selected;
  const int *rows = nullptr; ///< nullptr: all

  FEMGPU_HD
  int row(const int r) const
  {
    return rows == nullptr ? r : rows[r];
  }
  template <class Function>
  FEMGPU_HD
  void visit(const int i, const int k, const Function &f) const
  {
    if (k < A.row_starts[i + 1] && is_selected(i, A.columns[k]))
      f(A.columns[k], k);
  }
};

struct AnyColumn
{
  FEMGPU_HD
  bool operator()(const int /* i */, const int /* j */) const
  {
    return true;
  }
};

/// Selects the columns that a rank owns, without the ghosts.
struct IsOwnedColumn
{
  int n;

  FEMGPU_HD
  bool operator()(const int /* i */, const int j) const
  {
    return j < n;
  }
};

/// The contiguous positions of a row that a thread of a team processes, so that entries keep their
/// order. The positions of a row include the one after its last entry. In short rows each thread
/// has at most one position.
struct ThreadRange
{
  int first, last;

  template <class Team>
  FEMGPU_HD
  ThreadRange(const Team &team, const RowPatternView &A, const int i)
  {
    const int end = A.row_starts[i + 1] + 1, size = (A.length(i) + team.size()) / team.size();
    const int begin = A.row_starts[i] + size * team.rank();
    first = begin < end ? begin : end;
    last = first + size < end ? first + size : end;
  }
};

/// Returns the number of entries that a thread with the given positions stores.
template <class Selector>
FEMGPU_HD
int count_selected(const Selector &selector, const int i, const ThreadRange &thread_range)
{
  int n = 0;
  for (int k = thread_range.first; k < thread_range.last; ++k)
    selector.visit(i, k, [&](int, int) { ++n; });
  return n;
}

template <class Selector>
struct CountSelected
{
  static constexpr int team_size = 8, scratch = 0;
  RowPatternView A;
  Selector selector;
  int *lengths;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int r) const
  {
    const int i = selector.row(r);
    const double n = team.sum(count_selected(selector, i, ThreadRange(team, A, i)));
    if (team.rank() == 0)
      lengths[r] = static_cast<int>(n);
  }
};

template <class Selector>
struct StoreSelected
{
  static constexpr int team_size = 8, scratch = team_size / 2; // an int for each thread
  RowPatternView A;
  Selector selector;
  const int *row_starts;
  int *columns, *sources;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int r) const
  {
    const int i = selector.row(r);
    const ThreadRange thread_range(team, A, i);
    int at = row_starts[r];
    if (team.size() > 1) {
      int *const counts = reinterpret_cast<int *>(team.scratch());
      counts[team.rank()] = count_selected(selector, i, thread_range);
      team.sync();
      for (int thread = 0; thread < team.rank(); ++thread)
        at += counts[thread];
    }
    for (int k = thread_range.first; k < thread_range.last; ++k)
      selector.visit(i, k, [&](const int column, const int source) {
        columns[at] = column;
        sources[at++] = source;
      });
  }
};

/**
 * Makes a pattern whose row r is derived from row i = selector.row(r) of @p A. For each position k
 * of this row, and for the position after its last entry, selector.visit(i, k, f) is called. It
 * calls f(column, source), in ascending order of columns, for the entries that are derived from
 * position k; source is the position of the value in A, or -1 for the value 0.
 * @param n number of rows of the result
 * @param what name of the result for error messages
 * @throws SolverError if A or the result has more than max_indices entries
 */
template <class Backend, class Selector>
DerivedPattern select_entries(const PatternRef &A, const Selector &selector, const int n,
                              const std::string &what = "The pattern of a preconditioner")
{
  const RowPatternView rows_of_A = A.view();
  Runner<Backend> runner(*A.executor);
  Buffer<int> lengths(A.executor, static_cast<std::size_t>(n));
  runner.run(teams(n, CountSelected<Selector>{rows_of_A, selector, lengths.data()}));
  DerivedPattern result{make_rows<Backend>(A.executor, lengths, what), Buffer<int>()};
  result.sources = Buffer<int>(A.executor, result.pattern.columns.size());
  runner.run(
      teams(n, StoreSelected<Selector>{rows_of_A, selector, result.pattern.row_starts.data(),
                                       result.pattern.columns.data(), result.sources.data()}));
  return result;
}

/// Returns the pattern of a rank's rows without ghost columns.
template <class Backend>
DerivedPattern drop_ghost_columns(const PatternRef &A, const std::string &what)
{
  return select_entries<Backend>(A, EntriesWhere<IsOwnedColumn>{A.view(), {A.n}}, A.n, what);
}
} // namespace femgpu::linalg

#endif
