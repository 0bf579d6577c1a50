#ifndef femgpu_tests_linalg_ilu_reference_h
#define femgpu_tests_linalg_ilu_reference_h

#include "linalg/partitions/partition.h"
#include "tests/linalg/test_matrices.h"

#include <vector>

/**
 * @file
 * Incomplete factors as textbooks have them, with dense matrices by rows.
 */
namespace femgpu::linalg::test
{
using Dense = std::vector<std::vector<double>>;
using DenseLevels = std::vector<std::vector<int>>;

Dense dense_matrix(const HostMatrix &A);

/// Levels of fill, row by row by lev_ij = min(lev_ij, lev_ik + lev_kj + 1) (Saad 2003, §10.3.3).
/// Those above @p level are dropped: larger than it.
DenseLevels fill_levels(const Dense &A, int level);

/// D + L + U with M = (D + L) D⁻¹ (D + U), row by row on that pattern.
Dense incomplete_lu(const Dense &A, int level);

/// The same with Jacobi sweeps for both triangles.
std::vector<double> swept_solution(const Dense &lu, const std::vector<double> &r, int sweeps);

/// Numbers of outer and inner steps, and the level of fill.
struct TwoStage
{
  int outer, inner, level;
};

/// s after the outer steps of Algorithm 3 of Galiano et al. 2012, as it is printed, from s = 0.
std::vector<double> two_stage_solution(const HostMatrix &A, const Partition &blocks,
                                       const std::vector<double> &r, const TwoStage &counts);

/// Like random_dominant(), with about half of the entries on one side of the diagonal alone.
HostMatrix unsymmetric_pattern(int n, int per_row, unsigned int seed);

/// D + L + U of IncompleteFactors, rows in the order of the blocks.
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
