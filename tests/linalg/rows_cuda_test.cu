#include "linalg/base/error.h"
#include "tests/linalg/row_checks.h"

namespace femgpu::linalg::test
{
namespace
{
/// Skips where there is no device.
class CudaRows : public testing::Test
{
protected:
  ExecutorPtr executor;

  void SetUp() override
  {
    try {
      executor = make_executor("cuda");
    }
    catch (const DeviceError &error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(CudaRows, CountsAreAddedAndScanned)
{
  check_counts_are_added_and_scanned<CudaBackend>(executor);
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
