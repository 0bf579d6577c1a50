#ifndef femgpu_linalg_preconditioners_ainv_system_h
#define femgpu_linalg_preconditioners_ainv_system_h

#include "linalg/preconditioners/ainv_pivots.h"
#include "linalg/preconditioners/ilu_pattern.h"

#include <cstddef>
#include <utility>

/**
 * @file
 * What an approximate inverse is made of: diagonal blocks of A, scaled, on a symmetric pattern.
 */
namespace femgpu::linalg
{
/// S A S in the order of the blocks, without what is outside of them.
template <int parts>
struct AinvSystem
{
  RowPattern pattern; ///< symmetric, with a full diagonal
  Buffer<double> values[parts];
  Buffer<double> scaling; ///< S

  SystemView<parts> view() const
  {
    SystemView<parts> result{pattern.view(), {}};
    for (int part = 0; part < parts; ++part)
      result.values[part] = values[part].data();
    return result;
  }
};

/// s_i = 1/√|a_ii|: what is dropped then does not depend on the units of A. Or s_i = 1.
struct FindScaling
{
  bool is_unit;
  RowPatternView pattern;
  const int *entries; ///< of A
  const double *A_values;
  double *scaling;

  FEMGPU_HD
  void operator()(const int i) const
  {
    const int entry = entries[pattern.find(i, i)];
    const double size = entry < 0 ? 0. : fabs(A_values[entry]);
    scaling[i] = !is_unit && size > 0. && size - size == 0. ? 1. / sqrt(size) : 1.;
  }
};

struct ScaleRow
{
  RowPatternView pattern;
  const int *entries;
  const double *A_values, *scaling;
  double *values;

  FEMGPU_HD
  void operator()(const int i) const
  {
    for (int k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k)
      values[k] =
          entries[k] < 0 ? 0. : scaling[i] * A_values[entries[k]] * scaling[pattern.columns[k]];
  }
};

/// Calls f(column, entry of A, entry of B) for the columns of row i that A or B has, ascending; -1
/// for an entry that is not there.
template <class Function>
FEMGPU_HD
void for_union(const RowPatternView &A, const RowPatternView &B, const int i, const Function &f)
{
  int a = A.row_starts[i], b = B.row_starts[i];
  const int a_end = A.row_starts[i + 1], b_end = B.row_starts[i + 1];
  while (a < a_end || b < b_end) {
    const bool takes_a = b == b_end || (a < a_end && A.columns[a] <= B.columns[b]);
    const bool takes_b = a == a_end || (b < b_end && B.columns[b] <= A.columns[a]);
    f(takes_a ? A.columns[a] : B.columns[b], takes_a ? a : -1, takes_b ? b : -1);
    a += takes_a ? 1 : 0;
    b += takes_b ? 1 : 0;
  }
}

struct CountUnion
{
  RowPatternView A, B;
  int *lengths;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int length = 0;
    for_union(A, B, i, [&](int, int, int) { ++length; });
    lengths[i] = length;
  }
};

/// One part: the mean of A and Aᵀ, which differ by rounding; two: Aᵀ, and A.
template <int parts>
struct StoreUnion
{
  CsrView<double> A, A_transposed;
  const int *row_starts;
  int *columns;
  double *values[parts];

  FEMGPU_HD
  void operator()(const int i) const
  {
    int at = row_starts[i];
    const RowPatternView pattern{A.row_starts, A.columns};
    const RowPatternView transposed{A_transposed.row_starts, A_transposed.columns};
    for_union(pattern, transposed, i, [&](const int column, const int a, const int b) {
      const double a_ij = a < 0 ? 0. : A.values[a], a_ji = b < 0 ? 0. : A_transposed.values[b];
      columns[at] = column;
      values[0][at] = parts == 1 ? 0.5 * (a_ij + a_ji) : a_ji;
      values[parts - 1][at] = parts == 1 ? 0.5 * (a_ij + a_ji) : a_ij;
      ++at;
    });
  }
};

/// A + Aᵀ as a pattern, with the values of both.
template <class Backend, int parts>
void store_union(const CsrMatrix &A, AinvSystem<parts> &system)
{
  const ExecutorPtr owner = A.executor();
  Runner<Backend> runner(*owner);
  const auto A_transposed = transpose<Backend>(A);
  const CsrView<double> view = A.csr_view(), transposed = A_transposed->csr_view();
  Buffer<int> lengths(owner, static_cast<std::size_t>(A.n()));
  runner.run(rows(A.n(), CountUnion{{view.row_starts, view.columns},
                                    {transposed.row_starts, transposed.columns},
                                    lengths.data()}));
  system.pattern = make_rows<Backend>(owner, lengths);
  StoreUnion<parts> store{
      view, transposed, system.pattern.row_starts.data(), system.pattern.columns.data(), {}};
  for (int part = 0; part < parts; ++part) {
    system.values[part] = Buffer<double>(owner, system.pattern.columns.size());
    store.values[part] = system.values[part].data();
  }
  runner.run(rows(A.n(), store));
  owner->synchronize(); // before the transposed matrix goes
}

template <class Backend, int parts>
AinvSystem<parts> make_ainv_system(const CsrMatrix &A, const BlockPartition &blocks,
                                   const bool is_scaled)
{
  const ExecutorPtr owner = A.executor();
  Runner<Backend> runner(*owner);
  BlockDiagonal D = block_diagonal<Backend>(A, blocks);
  AinvSystem<parts> system;
  system.scaling = Buffer<double>(owner, static_cast<std::size_t>(A.n()));
  Buffer<double> values(owner, D.entries.size());
  const double *const A_values = A.csr_view().values;
  runner.run(rows(A.n(), FindScaling{!is_scaled, D.pattern.view(), D.entries.data(), A_values,
                                     system.scaling.data()}));
  runner.run(rows(A.n(), ScaleRow{D.pattern.view(), D.entries.data(), A_values,
                                  system.scaling.data(), values.data()}));
  if (parts == 1 && is_symmetric<Backend>(pattern_of(owner, D.pattern))) {
    system.pattern = std::move(D.pattern);
    system.values[0] = std::move(values);
  }
  else
    store_union<Backend>(CsrMatrix(owner, std::move(D.pattern.row_starts),
                                   std::move(D.pattern.columns), std::move(values)),
                         system);
  return system;
}
} // namespace femgpu::linalg

#endif
