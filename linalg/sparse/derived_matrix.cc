#include "linalg/sparse/derived_matrix.h"

#include "linalg/sparse/row_workspace.h"
#include "linalg/sparse/select_entries.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
struct StoreRowNumbers
{
  static constexpr int team_size = 8, scratch = 0;
  RowPatternView A;
  int *row_of_entry;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    for (int k = A.row_starts[i] + team.rank(); k < A.row_starts[i + 1]; k += team.size())
      row_of_entry[k] = i;
  }
};

struct IsInTriangle
{
  TrianglePart part;

  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return part == TrianglePart::lower            ? j <= i
           : part == TrianglePart::strictly_lower ? j < i
           : part == TrianglePart::upper          ? j >= i
                                                  : j > i;
  }
};

/// A selector for select_entries(): selects the entries of a submatrix.
struct SubmatrixEntries
{
  RowPatternView A;
  const int *rows;
  const int *new_columns; ///< for each column of A: its column in the submatrix; -1: none

  FEMGPU_HD
  int row(const int r) const
  {
    return rows[r];
  }
  template <class Function>
  FEMGPU_HD
  void visit(const int i, const int k, const Function &f) const
  {
    if (k < A.row_starts[i + 1] && new_columns[A.columns[k]] >= 0)
      f(new_columns[A.columns[k]], k);
  }
};
} // namespace

template <class Backend>
void check_indices(const CsrMatrix &A, const Buffer<int> &indices, const bool are_columns)
{
  const auto n = static_cast<int>(indices.size());
  Buffer<int> flags(A.executor(), indices.size());
  const int end = are_columns ? A.n_columns() : A.n();
  Runner<Backend>(*A.executor())
      .run(rows(n, [indices = indices.data(), end, are_columns,
                    is_bad = flags.data()] FEMGPU_BODY(const int k) {
        const bool ascends = !are_columns || k == 0 || indices[k] > indices[k - 1];
        is_bad[k] = indices[k] < 0 || indices[k] >= end || !ascends ? 1 : 0;
      }));
  const int index = first_flagged<Backend>(A.executor(), flags);
  if (index < 0)
    return;
  throw SolverError("Index " + std::to_string(index) + " of the " +
                    (are_columns ? "columns" : "rows") + " chosen from " + describe(A) + " is " +
                    std::to_string(indices.to_host()[static_cast<std::size_t>(index)]) +
                    (are_columns ? "; columns must be in range and in ascending order."
                                 : "; rows must be in range."));
}

template <class Backend>
DerivedMatrix<Backend>::DerivedMatrix(const CsrMatrix &A, const int n_columns,
                                      DerivedPattern pattern)
    : result(make_matrix(A.executor(), std::move(pattern.pattern), n_columns)),
      sources(std::move(pattern.sources)), n_entries(A.n_nonzeros())
{
  update(A);
}

template <class Backend>
DerivedMatrix<Backend>::DerivedMatrix(const CsrMatrix &A, const RowSpacePtr &range,
                                      const RowSpacePtr &domain, DerivedPattern pattern)
    : result(make_matrix(range, domain, std::move(pattern.pattern))),
      sources(std::move(pattern.sources)), n_entries(A.n_nonzeros())
{
  update(A);
}

template <class Backend>
void DerivedMatrix<Backend>::update(const CsrMatrix &A)
{
  check_same_pattern("A transpose or a submatrix", A, n_entries);
  Runner<Backend>(*A.executor())
      .run(rows(static_cast<int>(sources.size()),
                Gather<double>{A.csr_view().values, sources.data(), result->mutable_values()}));
}

template <class Backend>
Buffer<int> row_numbers(const PatternRef &A)
{
  Buffer<int> numbers(A.executor, A.n_entries);
  Runner<Backend>(*A.executor).run(teams(A.n, StoreRowNumbers{A.view(), numbers.data()}));
  return numbers;
}

template <class Backend>
DerivedPattern transposed_pattern(const PatternRef &A)
{
  const ExecutorPtr &owner = A.executor;
  const RowPatternView rows_of_A = A.view();
  const auto n_entries = static_cast<int>(A.n_entries);
  Runner<Backend> runner(*owner);
  DerivedPattern result{{Buffer<int>(owner, static_cast<std::size_t>(A.n_columns) + 1),
                         Buffer<int>(owner, A.n_entries)},
                        Buffer<int>(owner, A.n_entries)};
  Buffer<int> sorted_columns(owner, A.n_entries);
  int *const sorted = sorted_columns.data(), *const row_starts = result.pattern.row_starts.data();
  sort_by_key<Backend>(owner, rows_of_A.columns, n_entries, A.n_columns, sorted,
                       result.sources.data());
  runner.run(rows(A.n_columns + 1, [=] FEMGPU_BODY(const int j) {
    row_starts[j] = lower_bound(sorted, 0, n_entries, j);
  }));
  int *const row_of_entry = sorted; // reuses memory that is no longer needed
  runner.run(teams(A.n, StoreRowNumbers{rows_of_A, row_of_entry}));
  runner.run(rows(n_entries,
                  Gather<int>{row_of_entry, result.sources.data(), result.pattern.columns.data()}));
  return result;
}

template <class Backend>
DerivedMatrix<Backend> transposed(const CsrMatrix &A)
{
  return {A, A.n(), transposed_pattern<Backend>(pattern_of(A))};
}

template <class Backend>
DerivedPattern triangle_pattern(const PatternRef &A, const TrianglePart part, const int *rows)
{
  return select_entries<Backend>(A, EntriesWhere<IsInTriangle>{A.view(), {part}, rows}, A.n,
                                 "A triangle");
}

template <class Backend>
DerivedMatrix<Backend> triangle(const CsrMatrix &A, const TrianglePart part)
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
  Buffer<int> numbers(A.executor(), static_cast<std::size_t>(A.n_columns()));
  int *const new_columns = numbers.data();
  runner.run(linalg::rows(A.n_columns(), FillWith<int>{new_columns, -1}));
  runner.run(linalg::rows(n_columns, [chosen = columns.data(), new_columns] FEMGPU_BODY(
                                         const int c) { new_columns[chosen[c]] = c; }));
  const PatternRef pattern = pattern_of(A);
  return {A, n_columns,
          select_entries<Backend>(pattern,
                                  SubmatrixEntries{pattern.view(), rows.data(), new_columns},
                                  static_cast<int>(rows.size()), "A submatrix of " + describe(A))};
}

template class DerivedMatrix<ThisBackend>;
template Buffer<int> row_numbers<ThisBackend>(const PatternRef &);
template DerivedPattern transposed_pattern<ThisBackend>(const PatternRef &);
template DerivedMatrix<ThisBackend> transposed<ThisBackend>(const CsrMatrix &);
template DerivedPattern triangle_pattern<ThisBackend>(const PatternRef &, TrianglePart,
                                                      const int *);
template DerivedMatrix<ThisBackend> triangle<ThisBackend>(const CsrMatrix &, TrianglePart);
template DerivedMatrix<ThisBackend> submatrix<ThisBackend>(const CsrMatrix &, const Buffer<int> &,
                                                           const Buffer<int> &);
} // namespace femgpu::linalg
