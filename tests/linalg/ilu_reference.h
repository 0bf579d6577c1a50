#ifndef femgpu_tests_linalg_ilu_reference_h
#define femgpu_tests_linalg_ilu_reference_h

#include "linalg/partitions/partition.h"
#include "tests/linalg/test_matrices.h"

#include <vector>

/**
 * @file
 * Textbook versions of incomplete factorisations, with dense matrices stored by rows.
 */
namespace femgpu::linalg::test
{
using Dense = std::vector<std::vector<double>>;
using DenseLevels = std::vector<std::vector<int>>;

Dense dense_matrix(const HostMatrix &A);

/// Returns the levels of fill, computed row by row as lev_ij = min(lev_ij, lev_ik + lev_kj + 1)
/// (Saad 2003, §10.3.3). An entry with a level above @p level is dropped; its level is set to a
/// value that no later minimum uses.
DenseLevels fill_levels(const Dense &A, int level);

/// Returns D + L + U with M = (D + L) D⁻¹ (D + U), computed row by row on the pattern of
/// fill_levels().
Dense incomplete_lu(const Dense &A, int level);

/// Returns M⁻¹r, computed with @p sweeps Jacobi sweeps for each triangular factor.
std::vector<double> swept_solution(const Dense &lu, const std::vector<double> &r, int sweeps);

/// The options of the two-stage method: numbers of outer and inner steps, and level of fill.
struct TwoStage
{
  int outer, inner, level;
};

/// Returns s after the outer steps of Algorithm 3 of Galiano et al. 2012, as in the paper,
/// starting from s = 0.
std::vector<double> two_stage_solution(const HostMatrix &A, const Partition &blocks,
                                       const std::vector<double> &r, const TwoStage &counts);

/// Returns a matrix like random_dominant() without about half of its off-diagonal entries, so that
/// its pattern is unsymmetric.
HostMatrix unsymmetric_pattern(int n, int per_row, unsigned int seed);

/// Returns D + L + U of IncompleteFactors as a dense matrix, with rows in the order of the blocks.
template <class Factors>
Dense dense_factors(const Factors &factors)
{
  const auto view = factors.view();
  const auto n = static_cast<std::size_t>(factors.partition().n());
  std::vector<int> starts(n + 1), columns(factors.n_nonzeros());
  std::vector<double> values(columns.size());
  const auto &executor = *factors.executor();
  executor.copy_to_host(starts.data(), view.pattern.row_starts, starts.size() * sizeof(int));
  executor.copy_to_host(columns.data(), view.pattern.columns, columns.size() * sizeof(int));
  executor.copy_to_host(values.data(), view.values, values.size() * sizeof(double));
  Dense lu(n, std::vector<double>(n, 0.));
  for (std::size_t i = 0; i < n; ++i)
    for (int k = starts[i]; k < starts[i + 1]; ++k)
      lu[i][columns[k]] = values[k];
  return lu;
}
} // namespace femgpu::linalg::test

#endif
