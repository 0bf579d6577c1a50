#ifndef femgpu_linalg_sparse_choose_h
#define femgpu_linalg_sparse_choose_h

#include "linalg/sparse/derived_matrix.h"

/**
 * @file
 * Parts of patterns: entries that functors choose.
 */
namespace femgpu::linalg
{
/// All rows, and the entries (i, j) for which a predicate holds; see choose().
template <class Predicate>
struct EntriesWhere
{
  Predicate is_chosen;

  FEMGPU_HD
  int row(const int r) const
  {
    return r;
  }
  FEMGPU_HD
  int column(const int i, const int j) const
  {
    return is_chosen(i, j) ? j : -1;
  }
};

/// Each thread of a team has some entries of a row that follow each other, so that they keep their
/// order; of short rows, one.
struct Share
{
  int first, last;

  template <class Team>
  FEMGPU_HD
  Share(const Team &team, const RowPatternView &A, const int i)
  {
    const int end = A.row_starts[i + 1], size = (A.length(i) + team.size() - 1) / team.size();
    const int begin = A.row_starts[i] + size * team.rank();
    first = begin < end ? begin : end;
    last = first + size < end ? first + size : end;
  }
};

template <class Choice>
struct CountChosen
{
  static constexpr int team_size = 32, scratch = 0;
  RowPatternView A;
  Choice choice;
  int *lengths;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int r) const
  {
    const int i = choice.row(r);
    const Share share(team, A, i);
    double n = 0.;
    for (int k = share.first; k < share.last; ++k)
      n += choice.column(i, A.columns[k]) >= 0 ? 1. : 0.;
    n = team.sum(n);
    if (team.rank() == 0)
      lengths[r] = static_cast<int>(n);
  }
};

template <class Choice>
struct StoreChosen
{
  static constexpr int team_size = 32, scratch = team_size / 2; // an int for each thread
  RowPatternView A;
  Choice choice;
  const int *row_starts;
  int *columns, *sources;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int r) const
  {
    const int i = choice.row(r);
    const Share share(team, A, i);
    int *const counts = reinterpret_cast<int *>(team.scratch());
    int n = 0;
    for (int k = share.first; k < share.last; ++k)
      n += choice.column(i, A.columns[k]) >= 0 ? 1 : 0;
    counts[team.rank()] = n;
    team.sync();
    int at = row_starts[r];
    for (int thread = 0; thread < team.rank(); ++thread)
      at += counts[thread];
    for (int k = share.first; k < share.last; ++k)
      if (const int column = choice.column(i, A.columns[k]); column >= 0) {
        columns[at] = column;
        sources[at++] = k;
      }
  }
};

/**
 * The part of @p A whose row r has entries of row choice.row(r) of A, and of these (i, j) in column
 * choice.column(i, j), or not at all where that is -1; columns must stay in their order.
 * @param n rows of the part. @param what it is, for the text of an error. @throws as make_rows()
 */
template <class Backend, class Choice>
DerivedPattern choose(const PatternRef &A, const Choice &choice, const int n,
                      const std::string &what)
{
  Runner<Backend> runner(*A.executor);
  Buffer<int> lengths(A.executor, static_cast<std::size_t>(n));
  runner.run(teams(n, CountChosen<Choice>{A.view, choice, lengths.data()}));
  DerivedPattern result{make_rows<Backend>(A.executor, lengths, what), Buffer<int>()};
  result.sources = Buffer<int>(A.executor, result.pattern.columns.size());
  runner.run(teams(n, StoreChosen<Choice>{A.view, choice, result.pattern.row_starts.data(),
                                          result.pattern.columns.data(), result.sources.data()}));
  return result;
}
} // namespace femgpu::linalg

#endif
