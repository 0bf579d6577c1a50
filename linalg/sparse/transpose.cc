#include "linalg/sparse/transpose.h"

#include "linalg/execution/steps/scan_and_sort.h"

namespace femgpu::linalg
{
namespace
{
struct StoreRowNumbers
{
  static constexpr int team_size = 32, scratch = 0;
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

/// The first of ascending numbers that is not less than j.
struct FindRowStart
{
  const int *sorted;
  int n;
  int *row_starts;

  FEMGPU_HD
  void operator()(const int j) const
  {
    row_starts[j] = lower_bound(sorted, 0, n, j);
  }
};
} // namespace

template <class Backend>
DerivedPattern transposed_pattern(const PatternRef &A)
{
  const ExecutorPtr &owner = A.executor;
  const auto n_entries = static_cast<int>(A.n_entries);
  Runner<Backend> runner(*owner);
  DerivedPattern result{{Buffer<int>(owner, static_cast<std::size_t>(A.n_columns) + 1),
                         Buffer<int>(owner, A.n_entries)},
                        Buffer<int>(owner, A.n_entries)};
  Buffer<int> sorted(owner, A.n_entries);
  sort_by_key<Backend>(owner, A.view.columns, n_entries, A.n_columns, sorted.data(),
                       result.sources.data());
  runner.run(rows(A.n_columns + 1,
                  FindRowStart{sorted.data(), n_entries, result.pattern.row_starts.data()}));
  int *const row_of_entry = sorted.data(); // which is not needed any more
  runner.run(teams(A.n, StoreRowNumbers{A.view, row_of_entry}));
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
std::unique_ptr<CsrMatrix> transpose(const CsrMatrix &A)
{
  DerivedPattern result = transposed_pattern<Backend>(pattern_of(A));
  Buffer<double> values(A.executor(), A.n_nonzeros());
  Runner<Backend>(*A.executor())
      .run(rows(static_cast<int>(A.n_nonzeros()),
                Gather<double>{A.csr_view().values, result.sources.data(), values.data()}));
  return std::make_unique<CsrMatrix>(A.executor(), A.n(), std::move(result.pattern.row_starts),
                                     std::move(result.pattern.columns), std::move(values));
}

template DerivedPattern transposed_pattern<ThisBackend>(const PatternRef &);
template DerivedMatrix<ThisBackend> transposed<ThisBackend>(const CsrMatrix &);
template std::unique_ptr<CsrMatrix> transpose<ThisBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
