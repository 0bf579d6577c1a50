#include "linalg/sparse/subset.h"

#include "linalg/sparse/row_workspace.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
/// How a triangle is chosen: for each row of the result its row of A, and for each entry of that
/// the column that it has in the result, or -1.
struct TriangleChoice
{
  Triangle part;

  FEMGPU_HD
  int row(const int r) const
  {
    return r;
  }
  FEMGPU_HD
  int column(const int i, const int j) const
  {
    const bool is_chosen = part == Triangle::lower            ? j <= i
                           : part == Triangle::strictly_lower ? j < i
                           : part == Triangle::upper          ? j >= i
                                                              : j > i;
    return is_chosen ? j : -1;
  }
};

/// The same for some rows and columns.
struct ListChoice
{
  const int *rows;
  const int *new_columns; ///< of each column of A; -1: not chosen

  FEMGPU_HD
  int row(const int r) const
  {
    return rows[r];
  }
  FEMGPU_HD
  int column(const int /* i */, const int j) const
  {
    return new_columns[j];
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

/// @param n rows of the result
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

struct MarkBadIndex
{
  const int *indices;
  int end;
  bool must_ascend;
  int *is_bad;

  FEMGPU_HD
  void operator()(const int k) const
  {
    const bool ascends = !must_ascend || k == 0 || indices[k] > indices[k - 1];
    is_bad[k] = indices[k] < 0 || indices[k] >= end || !ascends ? 1 : 0;
  }
};

template <class Backend>
void check_indices(const CsrMatrix &A, const Buffer<int> &indices, const bool are_columns)
{
  const auto n = static_cast<int>(indices.size());
  Buffer<int> is_bad(A.executor(), indices.size());
  Runner<Backend>(*A.executor())
      .run(rows(n, MarkBadIndex{indices.data(), are_columns ? A.n_columns() : A.n(), are_columns,
                                is_bad.data()}));
  const RowList bad = flagged_rows<Backend>(A.executor(), is_bad);
  if (bad.n == 0)
    return;
  const int place = bad.some.to_host(1)[0];
  throw SolverError("Number " + std::to_string(place) + " of the " +
                    (are_columns ? "columns" : "rows") + " chosen from " + describe(A) + " is " +
                    std::to_string(indices.to_host()[static_cast<std::size_t>(place)]) +
                    (are_columns ? "; columns must ascend within the matrix."
                                 : "; rows must be those of the matrix."));
}

struct StoreNewColumn
{
  const int *columns;
  int *new_columns;

  FEMGPU_HD
  void operator()(const int c) const
  {
    new_columns[columns[c]] = c;
  }
};

struct StoreNoColumn
{
  int *new_columns;

  FEMGPU_HD
  void operator()(const int j) const
  {
    new_columns[j] = -1;
  }
};

struct FindDiagonal
{
  CsrView<double> A;
  double *diagonal;

  FEMGPU_HD
  void operator()(const int i) const
  {
    diagonal[i] = A.diagonal(i);
  }
};
} // namespace

template <class Backend>
DerivedPattern triangle_pattern(const PatternRef &A, const Triangle part)
{
  return choose<Backend>(A, TriangleChoice{part}, A.n, "A triangle");
}

template <class Backend>
DerivedMatrix<Backend> triangle(const CsrMatrix &A, const Triangle part)
{
  return {A, A.n_columns(), triangle_pattern<Backend>(pattern_of(A), part)};
}

template <class Backend>
DerivedMatrix<Backend> submatrix(const CsrMatrix &A, const Buffer<int> &rows,
                                 const Buffer<int> &columns)
{
  check_indices<Backend>(A, rows, false);
  check_indices<Backend>(A, columns, true);
  Runner<Backend> runner(*A.executor());
  const auto n_columns = static_cast<int>(columns.size());
  Buffer<int> new_columns(A.executor(), static_cast<std::size_t>(A.n_columns()));
  runner.run(linalg::rows(A.n_columns(), StoreNoColumn{new_columns.data()}));
  runner.run(linalg::rows(n_columns, StoreNewColumn{columns.data(), new_columns.data()}));
  const ListChoice choice{rows.data(), new_columns.data()};
  return {A, n_columns,
          choose<Backend>(pattern_of(A), choice, static_cast<int>(rows.size()),
                          "A part of " + describe(A))};
}

template <class Backend>
Buffer<double> diagonal(const CsrMatrix &A)
{
  const int n = std::min(A.n(), A.n_columns());
  Buffer<double> result(A.executor(), static_cast<std::size_t>(n));
  Runner<Backend>(*A.executor()).run(rows(n, FindDiagonal{A.csr_view(), result.data()}));
  return result;
}

template DerivedPattern triangle_pattern<ThisBackend>(const PatternRef &, Triangle);
template DerivedMatrix<ThisBackend> triangle<ThisBackend>(const CsrMatrix &, Triangle);
template DerivedMatrix<ThisBackend> submatrix<ThisBackend>(const CsrMatrix &, const Buffer<int> &,
                                                           const Buffer<int> &);
template Buffer<double> diagonal<ThisBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
