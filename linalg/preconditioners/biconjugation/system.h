#ifndef femgpu_linalg_preconditioners_biconjugation_system_h
#define femgpu_linalg_preconditioners_biconjugation_system_h

#include "linalg/preconditioners/biconjugation/pivots.h"
#include "linalg/preconditioners/incomplete/pattern.h"
#include "linalg/sparse/sum.h"

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

/// One part: the mean of A and Aᵀ, which differ by rounding; two: Aᵀ, and A.
template <int parts>
struct StoreBoth
{
  const double *A_values;
  const int *A_entries, *transposed_entries; ///< -1: none
  const int *sources;                        ///< of the entries of Aᵀ
  double *values[parts];

  FEMGPU_HD
  void operator()(const int k) const
  {
    const int a = A_entries[k], b = transposed_entries[k];
    const double a_ij = a < 0 ? 0. : A_values[a], a_ji = b < 0 ? 0. : A_values[sources[b]];
    values[0][k] = parts == 1 ? 0.5 * (a_ij + a_ji) : a_ji;
    values[parts - 1][k] = parts == 1 ? 0.5 * (a_ij + a_ji) : a_ij;
  }
};

/// A + Aᵀ as a pattern, with the values of both. @param A_values of the entries of @p A
template <class Backend, int parts>
void store_union(const PatternRef &A, const double *A_values, AinvSystem<parts> &system)
{
  const DerivedPattern transposed = transposed_pattern<Backend>(A);
  UnionPattern both =
      union_pattern<Backend>(A, pattern_of(A.executor, transposed.pattern),
                             "The pattern of an approximate inverse's matrix and its transpose");
  StoreBoth<parts> store{
      A_values, both.A_entries.data(), both.B_entries.data(), transposed.sources.data(), {}};
  for (int part = 0; part < parts; ++part) {
    system.values[part] = Buffer<double>(A.executor, both.pattern.columns.size());
    store.values[part] = system.values[part].data();
  }
  Runner<Backend>(*A.executor).run(rows(static_cast<int>(both.pattern.columns.size()), store));
  system.pattern = std::move(both.pattern);
  A.executor->synchronize(); // before the transposed pattern goes
}

template <class Backend, int parts>
AinvSystem<parts> make_ainv_system(const CsrMatrix &A, const BlockPartition &blocks,
                                   const bool is_scaled)
{
  const ExecutorPtr &owner = A.executor();
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
    store_union<Backend>(pattern_of(owner, D.pattern), values.data(), system);
  return system;
}
} // namespace femgpu::linalg

#endif
