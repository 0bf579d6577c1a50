#include "linalg/sparse/sum.h"

namespace femgpu::linalg
{
namespace
{
/// Marks the entries of B that A does not have.
struct MarkNew
{
  static constexpr int team_size = 8, scratch = 0;
  RowPatternView A, B;
  int *is_new;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    for (int l = B.row_starts[i] + team.rank(); l < B.row_starts[i + 1]; l += team.size())
      is_new[l] = A.find(i, B.columns[l]) < 0 ? 1 : 0;
  }
};

/// The union of two patterns A and B.
struct Union
{
  RowPatternView A, B;
  const int *new_before; ///< for each entry of B, and for the end: the number of earlier entries of
                         ///< B that A does not have

  /// Returns the position of an entry in the union.
  /// @param in_A, in_B first positions in A and B that do not precede this entry
  FEMGPU_HD
  int position(const int in_A, const int in_B) const
  {
    return in_A + new_before[in_B];
  }
};

struct StoreUnion
{
  static constexpr int team_size = 8, scratch = 0;
  Union both;
  int *columns, *A_entries, *B_entries;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    const RowPatternView &A = both.A, &B = both.B;
    for (int k = A.row_starts[i] + team.rank(); k < A.row_starts[i + 1]; k += team.size()) {
      const int l = B.lower_bound(i, A.columns[k], B.row_starts[i]);
      store(both.position(k, l), A.columns[k], k, B.is_at(l, i, A.columns[k]) ? l : -1);
    }
    for (int l = B.row_starts[i] + team.rank(); l < B.row_starts[i + 1]; l += team.size())
      if (both.new_before[l + 1] > both.new_before[l])
        store(both.position(A.lower_bound(i, B.columns[l], A.row_starts[i]), l), B.columns[l], -1,
              l);
  }

  FEMGPU_HD
  void store(const int at, const int column, const int k, const int l) const
  {
    columns[at] = column;
    A_entries[at] = k;
    B_entries[at] = l;
  }
};
} // namespace

template <class Backend>
UnionPattern union_pattern(const PatternRef &A, const PatternRef &B, const std::string &what)
{
  const ExecutorPtr owner = A.executor;
  Runner<Backend> runner(*owner);
  const auto n_nonzeros_of_B = static_cast<int>(B.n_entries);
  Buffer<int> is_new(owner, B.n_entries), new_before(owner, B.n_entries + 1);
  const Union both{A.view(), B.view(), new_before.data()};
  runner.run(teams(A.n, MarkNew{A.view(), B.view(), is_new.data()}));
  const long long n_new = total_counts<Backend>(owner, is_new.data(), n_nonzeros_of_B).sum;
  check_n_entries(what, static_cast<long long>(A.n_entries) + n_new);
  scan_counts<Backend>(owner, is_new.data(), n_nonzeros_of_B, new_before.data());
  const std::size_t n_entries = A.n_entries + static_cast<std::size_t>(n_new);
  UnionPattern result{
      {Buffer<int>(owner, static_cast<std::size_t>(A.n) + 1), Buffer<int>(owner, n_entries)},
      Buffer<int>(owner, n_entries),
      Buffer<int>(owner, n_entries)};
  runner.run(
      rows(A.n + 1, [both, row_starts = result.pattern.row_starts.data()] FEMGPU_BODY(const int i) {
        row_starts[i] = both.position(both.A.row_starts[i], both.B.row_starts[i]);
      }));
  runner.run(teams(A.n, StoreUnion{both, result.pattern.columns.data(), result.A_entries.data(),
                                   result.B_entries.data()}));
  return result;
}

template <class Backend>
Sum<Backend>::Sum(const double a, const CsrMatrix &A, const double b, const CsrMatrix &B)
    : n_nonzeros_of_A(A.n_nonzeros()), n_nonzeros_of_B(B.n_nonzeros())
{
  const std::string what = "The sum of " + describe(A) + " and " + describe(B);
  if (A.n() != B.n() || A.n_columns() != B.n_columns())
    throw SolverError(what + " does not exist: both matrices must have the same size.");
  UnionPattern entries = union_pattern<Backend>(pattern_of(A), pattern_of(B), what);
  A_entries = std::move(entries.A_entries);
  B_entries = std::move(entries.B_entries);
  result = make_matrix(A.range(), A.domain(), std::move(entries.pattern));
  update(a, A, b, B);
}

template <class Backend>
void Sum<Backend>::update(const double a, const CsrMatrix &A, const double b, const CsrMatrix &B)
{
  check_same_pattern("A sum", A, n_nonzeros_of_A);
  check_same_pattern("A sum", B, n_nonzeros_of_B);
  Runner<Backend>(*A.executor())
      .run(rows(static_cast<int>(A_entries.size()),
                [a, b, A_values = A.csr_view().values, B_values = B.csr_view().values,
                 in_A = A_entries.data(), in_B = B_entries.data(),
                 values = result->mutable_values()] FEMGPU_BODY(const int e) {
                  const int k = in_A[e], l = in_B[e];
                  values[e] = l < 0   ? a * A_values[k]
                              : k < 0 ? b * B_values[l]
                                      : a * A_values[k] + b * B_values[l];
                }));
}

template UnionPattern union_pattern<ThisBackend>(const PatternRef &, const PatternRef &,
                                                 const std::string &);
template class Sum<ThisBackend>;
} // namespace femgpu::linalg
