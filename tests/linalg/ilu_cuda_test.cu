#include "tests/linalg/ilu_checks.h"
#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
class CudaIlu : public OnCuda
{};

TEST_F(CudaIlu, PatternIsThatOfTheLevels)
{
  check_pattern_is_that_of_the_levels<CudaBackend>(executor);
}

TEST_F(CudaIlu, ProductOfFactorsIsAOnThePattern)
{
  check_product_of_factors_is_A_on_the_pattern<CudaBackend>(executor);
}

TEST_F(CudaIlu, FullPatternSolvesTheSystem)
{
  check_full_pattern_solves_the_system<CudaBackend>(executor);
}

TEST_F(CudaIlu, TriangularSolvesAgree)
{
  check_triangular_solves_agree<CudaBackend>(executor);
}

TEST_F(CudaIlu, SolvesWithLargeBlocksAgree)
{
  check_solves_with_large_blocks_agree<CudaBackend>(executor);
}

TEST_F(CudaIlu, SweepsAreTruncatedSeries)
{
  check_sweeps_are_truncated_series<CudaBackend>(executor);
}

TEST_F(CudaIlu, SweepsContractOrAreReplaced)
{
  check_sweeps_contract_or_are_replaced<CudaBackend>(executor);
}

TEST_F(CudaIlu, TwoStageIsAlgorithm3)
{
  check_two_stage_is_algorithm_3<CudaBackend>(executor);
}

TEST_F(CudaIlu, IsSymmetricForSymmetricMatrices)
{
  check_is_symmetric_for_symmetric_matrices<CudaBackend>(executor);
}

TEST_F(CudaIlu, FactorsAreSymmetricToTheBit)
{
  check_cholesky_factors_are_symmetric_to_the_bit<CudaBackend>(executor);
}

TEST_F(CudaIlu, UpdateIsSetupWithNewValues)
{
  check_update_is_setup_with_new_values<CudaBackend>(executor);
}
} // namespace
} // namespace femgpu::linalg::test
