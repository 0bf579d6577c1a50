#include "tests/linalg/on_backend.h"
#include "tests/linalg/row_checks.h"

namespace femgpu::linalg::test
{
namespace
{
class CudaRows : public OnCuda
{};

TEST_F(CudaRows, CountsAreAddedAndScanned)
{
  check_counts_are_added_and_scanned<CudaBackend>(executor);
}

TEST_F(CudaRows, TeamsAddAndShareScratch)
{
  check_teams_of_all_sizes<CudaBackend>(executor);
}

TEST_F(CudaRows, SumsOfCountsDoNotOverflow)
{
  check_sums_of_counts_do_not_overflow<CudaBackend>(executor);
}

TEST_F(CudaRows, FlaggedRowsAreListed)
{
  check_flagged_rows_are_listed<CudaBackend>(executor);
}

TEST_F(CudaRows, ProductsOfUnevenPatternsHaveAllColumns)
{
  check_products_of_uneven_patterns<CudaBackend>(executor);
}

TEST_F(CudaRows, LeastSquaresDoNotDependOnTheWorkspace)
{
  check_least_squares_do_not_depend_on_the_workspace<CudaBackend>(executor);
}

} // namespace
} // namespace femgpu::linalg::test
