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

/// A + Aᵀ as a pattern, with the values of both. @param A_values of the entries of @p A
template <class Backend, int parts>
void store_union(const PatternRef &A, const double *A_values, AinvSystem<parts> &system)
{
  const DerivedPattern transposed = transposed_pattern<Backend>(A);
  UnionPattern both =
      union_pattern<Backend>(A, pattern_of(A.executor, transposed.pattern),
                             "The pattern of an approximate inverse's matrix and its transpose");
  for (Buffer<double> &values : system.values)
    values = Buffer<double>(A.executor, both.pattern.columns.size());
  // One part: the mean of A and Aᵀ, which differ by rounding; two: Aᵀ, and A.
  Runner<Backend>(*A.executor)
      .run(rows(static_cast<int>(both.pattern.columns.size()),
                [A_values, in_A = both.A_entries.data(), in_transposed = both.B_entries.data(),
                 sources = transposed.sources.data(), first = system.values[0].data(),
                 last = system.values[parts - 1].data()] FEMGPU_BODY(const int k) {
                  const int a = in_A[k], b = in_transposed[k];
                  const double a_ij = a < 0 ? 0. : A_values[a];
                  const double a_ji = b < 0 ? 0. : A_values[sources[b]];
                  first[k] = parts == 1 ? 0.5 * (a_ij + a_ji) : a_ji;
                  last[k] = parts == 1 ? 0.5 * (a_ij + a_ji) : a_ij;
                }));
  system.pattern = std::move(both.pattern);
  A.executor->synchronize(); // before the transposed pattern goes
}

template <class Backend, int parts>
AinvSystem<parts> make_ainv_system(const CsrMatrix &A, const BlockPartition &blocks,
                                   const bool is_scaled)
{
  const ExecutorPtr &owner = A.executor();
  Runner<Backend> runner(*owner);
  DerivedPattern D = block_diagonal<Backend>(A, blocks);
  AinvSystem<parts> system;
  system.scaling = Buffer<double>(owner, static_cast<std::size_t>(A.n()));
  Buffer<double> values(owner, D.sources.size());
  const RowPatternView pattern = D.pattern.view();
  const int *const entries = D.sources.data();
  const double *const A_values = A.csr_view().values;
  double *const s = system.scaling.data(), *const scaled = values.data();
  // s_i = 1/√|a_ii|: what is dropped then does not depend on the units of A. Or s_i = 1.
  runner.run(rows(A.n(), [=] FEMGPU_BODY(const int i) {
    const int entry = entries[pattern.find(i, i)];
    const double size = entry < 0 ? 0. : fabs(A_values[entry]);
    s[i] = is_scaled && size > 0. && size - size == 0. ? 1. / sqrt(size) : 1.;
  }));
  runner.run(rows(A.n(), [=] FEMGPU_BODY(const int i) {
    for (int k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k)
      scaled[k] = entries[k] < 0 ? 0. : s[i] * A_values[entries[k]] * s[pattern.columns[k]];
  }));
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
