#include "linalg/execution/make_executor.h"
#include "tests/linalg/gram_checks.h"

namespace femgpu::linalg::test
{
namespace
{
TEST(HostGram, AwkwardSizes)
{
  check_gram_of_edge_case_sizes<HostBackend>(make_executor("host"));
}

TEST(HostGram, InALoopThatHasEnded)
{
  check_gram_in_a_loop_that_has_ended<HostBackend>(make_executor("host"));
}

TEST(HostGram, DoesNotDependOnTheNumberOfThreads)
{
  const int n = 100007;
  const std::size_t stride = 100032;
  std::vector<double> columns = random_columns(n, 6, stride);
  const Columns V{columns.data(), stride, 6};
  const std::vector<double> C = host_gram(n, V, V, 1);
  EXPECT_EQ(host_gram(n, V, V, 2), C);
  EXPECT_EQ(host_gram(n, V, V, 5), C);
}
} // namespace
} // namespace femgpu::linalg::test
