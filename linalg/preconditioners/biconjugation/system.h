#ifndef femgpu_linalg_preconditioners_biconjugation_system_h
#define femgpu_linalg_preconditioners_biconjugation_system_h

#include "linalg/base/error.h"
#include "linalg/base/hash.h"
#include "linalg/preconditioners/biconjugation/pivots.h"
#include "linalg/preconditioners/incomplete/pattern.h"
#include "linalg/sparse/sum.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * The input of an approximate inverse: scaled diagonal blocks of A on a symmetric pattern, and the
 * order in which columns become pivots.
 */
namespace femgpu::linalg
{
inline std::vector<std::string> column_order_choices()
{
  return {"shortest", "colouring", "natural", "nested-dissection"};
}

/// Checks that this build supports the column order @p order.
/// @throws ParameterError if it does not
inline void check_column_order(const std::string &order)
{
  if (order == "nested-dissection" && !have_metis())
    throw ParameterError("This femgpu was built without METIS, which order=nested-dissection "
                         "needs. Install libmetis-dev and rebuild femgpu, or use order=colouring.");
}

/// Returns keys that order the columns by METIS' nested dissection of the graph of A + Aᵀ.
inline Buffer<ColumnKey> nested_dissection_keys(const CsrMatrix &A, const BlockPartition &blocks)
{
  const HostMatrix pattern = host_pattern(A);
  const int node_size = pattern.csr().node_size();
  const std::vector<int> positions = metis_dissection(node_graph(pattern.csr(), node_size));
  std::vector<ColumnKey> keys(static_cast<std::size_t>(A.n()));
  for (int j = 0; j < A.n(); ++j) {
    const int row = blocks.old_row(j);
    keys[j] = key_of(
        1, static_cast<unsigned int>(positions[row / node_size] * node_size + row % node_size));
  }
  return {A.executor(), keys.data(), keys.size()};
}

/// Returns a key for each column of the blocks; columns with smaller keys become pivots first.
/// @param pattern the pattern of the blocks; rows and columns are in the order of the blocks
template <class Backend>
Buffer<ColumnKey> column_keys(const std::string &order, const CsrMatrix &A,
                              const BlockPartition &blocks, const RowPattern &pattern)
{
  if (order == "nested-dissection")
    return nested_dissection_keys(A, blocks);
  Buffer<ColumnKey> column_keys(A.executor(), static_cast<std::size_t>(A.n()));
  const bool is_natural = order == "natural", is_shortest = order == "shortest";
  const int *const starts = pattern.row_starts.data();
  ColumnKey *const keys = column_keys.data();
  Runner<Backend>(*A.executor()).run(rows(A.n(), [=] FEMGPU_BODY(const int j) {
    const auto number = static_cast<unsigned int>(j);
    // All orders but the natural one break ties pseudo-randomly.
    keys[j] =
        key_of(is_shortest ? starts[j + 1] - starts[j] : 0., is_natural ? number : hash_of(number));
  }));
  return column_keys;
}

/// The diagonal blocks of the scaled matrix S A S, in the order of the blocks.
template <int n_factors>
struct AinvSystem
{
  RowPattern pattern; ///< symmetric, with a full diagonal
  Buffer<double> values[n_factors];
  Buffer<double> scaling; ///< the diagonal of S

  SystemView<n_factors> view() const
  {
    SystemView<n_factors> result{pattern.view(), {}};
    for (int factor = 0; factor < n_factors; ++factor)
      result.values[factor] = values[factor].data();
    return result;
  }
};

/// Stores Aᵀ and A or, with one factor, their mean in @p system, on the pattern of A + Aᵀ.
/// @param A_values the values of the entries of @p A
template <class Backend, int n_factors>
void store_union(const PatternRef &A, const double *A_values, AinvSystem<n_factors> &system)
{
  const DerivedPattern transposed = transposed_pattern<Backend>(A);
  UnionPattern both =
      union_pattern<Backend>(A, pattern_of(A.executor, transposed.pattern),
                             "The pattern of an approximate inverse's matrix and its transpose");
  for (Buffer<double> &values : system.values)
    values = Buffer<double>(A.executor, both.pattern.columns.size());
  // One factor: the mean of A and Aᵀ, which differ by rounding; two factors: Aᵀ and A.
  Runner<Backend>(*A.executor)
      .run(rows(static_cast<int>(both.pattern.columns.size()),
                [A_values, in_A = both.A_entries.data(), in_transposed = both.B_entries.data(),
                 sources = transposed.sources.data(), first = system.values[0].data(),
                 last = system.values[n_factors - 1].data()] FEMGPU_BODY(const int k) {
                  const int a = in_A[k], b = in_transposed[k];
                  const double a_ij = a < 0 ? 0. : A_values[a];
                  const double a_ji = b < 0 ? 0. : A_values[sources[b]];
                  first[k] = n_factors == 1 ? 0.5 * (a_ij + a_ji) : a_ji;
                  last[k] = n_factors == 1 ? 0.5 * (a_ij + a_ji) : a_ij;
                }));
  system.pattern = std::move(both.pattern);
  A.executor->synchronize(); // before the transposed pattern is freed
}

template <class Backend, int n_factors>
AinvSystem<n_factors> make_ainv_system(const CsrMatrix &A, const BlockPartition &blocks,
                                       const bool is_scaled)
{
  const ExecutorPtr &owner = A.executor();
  Runner<Backend> runner(*owner);
  DerivedPattern D = block_diagonal<Backend>(A, blocks);
  AinvSystem<n_factors> system;
  system.scaling = Buffer<double>(owner, static_cast<std::size_t>(A.n()));
  Buffer<double> values(owner, D.sources.size());
  const RowPatternView pattern = D.pattern.view();
  const int *const entries = D.sources.data();
  const double *const A_values = A.csr_view().values;
  double *const s = system.scaling.data(), *const scaled = values.data();
  // s_i = 1/√|a_ii|, so that dropping does not depend on the units of A. Without scaling, or if
  // a_ii is zero or not finite, s_i = 1.
  runner.run(rows(A.n(), [=] FEMGPU_BODY(const int i) {
    const int entry = entries[pattern.find(i, i)];
    const double size = entry < 0 ? 0. : fabs(A_values[entry]);
    s[i] = is_scaled && size > 0. && size - size == 0. ? 1. / sqrt(size) : 1.;
  }));
  runner.run(rows(A.n(), [=] FEMGPU_BODY(const int i) {
    for (int k = pattern.row_starts[i]; k < pattern.row_starts[i + 1]; ++k)
      scaled[k] = entries[k] < 0 ? 0. : s[i] * A_values[entries[k]] * s[pattern.columns[k]];
  }));
  if (n_factors == 1 && is_symmetric<Backend>(pattern_of(owner, D.pattern))) {
    system.pattern = std::move(D.pattern);
    system.values[0] = std::move(values);
  }
  else
    store_union<Backend>(pattern_of(owner, D.pattern), values.data(), system);
  return system;
}
} // namespace femgpu::linalg

#endif
