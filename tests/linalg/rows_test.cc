#include "linalg/execution/make_executor.h"
#include "tests/linalg/row_checks.h"

namespace femgpu::linalg::test
{
/// A backend that runs on the host but, like a GPU, gives teams scratch memory, so that rows take
/// the code paths of a GPU.
struct HostWithScratch
{
  static constexpr BackendKind kind = BackendKind::cuda;
};
} // namespace femgpu::linalg::test

namespace femgpu::linalg
{
using test::HostWithScratch;

template <>
class Runner<HostWithScratch>
{
public:
  explicit Runner(const Executor &executor) : host(executor)
  {}
  template <class Step>
  void run(const Step &step)
  {
    host.run(step);
  }
  static int max_scratch()
  {
    return 3000;
  }

private:
  Runner<HostBackend> host;
};

template <>
CountTotals total_counts<HostWithScratch>(const ExecutorPtr &executor, const int *counts,
                                          const int n)
{
  return total_counts<HostBackend>(executor, counts, n);
}
template <>
void scan_counts<HostWithScratch>(const ExecutorPtr &executor, const int *counts, const int n,
                                  int *starts)
{
  scan_counts<HostBackend>(executor, counts, n, starts);
}
} // namespace femgpu::linalg

namespace femgpu::linalg::test
{
namespace
{
TEST(HostRows, CountsAreAddedAndScanned)
{
  check_counts_are_added_and_scanned<HostBackend>(make_executor("host"));
}

TEST(HostRows, TeamsAddAndShareScratch)
{
  check_teams_of_all_sizes<HostBackend>(make_executor("host"));
}

TEST(HostRows, SumsOfCountsDoNotOverflow)
{
  check_sums_of_counts_do_not_overflow<HostBackend>(make_executor("host"));
}

TEST(HostRows, FlaggedRowsAreListed)
{
  check_flagged_rows_are_listed<HostBackend>(make_executor("host"));
}

TEST(HostRows, ProductsOfUnevenPatternsHaveAllColumns)
{
  check_products_of_uneven_patterns<HostBackend>(make_executor("host"));
}

TEST(HostRows, ProductsThatDoNotFitIntoScratchHaveAllColumnsToo)
{
  check_products_of_uneven_patterns<HostWithScratch>(make_executor("host"));
}

TEST(HostRows, LeastSquaresDoNotDependOnTheWorkspace)
{
  check_least_squares_do_not_depend_on_the_workspace<HostBackend>(make_executor("host"));
}

TEST(HostRows, WorkspacesOfLeastSquaresAreAsLargeAsNeeded)
{
  for (int n2 = 1; n2 < 40; ++n2)
    for (int n1 = 0; n1 < 200; ++n1) {
      const std::size_t size = LeastSquares::size(n1, n2);
      const int limit = LeastSquares::max_rows(size, n2);
      ASSERT_GE(limit, n1) << n2;
      ASSERT_LE(LeastSquares::size(limit, n2), size) << n2;
      ASSERT_LE(n1 + ColumnSet::size(n1), 2 * size) << n2;
    }
  EXPECT_LT(LeastSquares::max_rows(40, 30), 0);
  EXPECT_LT(LeastSquares::max_rows(0, 1), 0);
}

TEST(HostRows, SetsOfColumnsHoldAsManyAsTheirMemory)
{
  for (int limit = 0; limit < 3000; ++limit) {
    const int held = ColumnSet::capacity_in(ColumnSet::size(limit));
    ASSERT_GE(held, limit);
    ASSERT_LE(ColumnSet::size(held), ColumnSet::size(limit));
  }
}

TEST(HostRows, ASetThatIsTooSmallSaysSo)
{
  const HostTeam<0> team;
  for (const int n_columns : {0, 9, 10, 11, 500}) {
    std::vector<int> memory(ColumnSet::size(10), 77);
    ColumnSet set(memory.data(), 10);
    set.clear(team);
    for (int column = 0; column < n_columns; ++column)
      set.insert(team, 1000 * column);
    if (n_columns <= 10)
      EXPECT_EQ(set.n_columns(team), n_columns);
    else
      EXPECT_GT(set.n_columns(team), set.capacity());
  }
}

TEST(HostRows, AFewLargeRowsLeaveTheOthersTheirSmallWorkspaces)
{
  const std::size_t limit = 20000;
  std::vector<std::size_t> needs(500, 30);
  EXPECT_EQ(optimal_scratch_size(needs, limit), 30U);
  std::fill_n(needs.begin(), 50, 10000); // a tenth of the rows
  EXPECT_EQ(optimal_scratch_size(needs, limit), 30U);
  std::fill_n(needs.begin(), 50, 35);
  EXPECT_EQ(optimal_scratch_size(needs, limit), 35U);
  needs.assign(500, 30000); // above the limit
  EXPECT_EQ(optimal_scratch_size(needs, limit), 0U);
  std::fill_n(needs.begin(), 50, 30);
  EXPECT_EQ(optimal_scratch_size(needs, limit), 30U);
  EXPECT_EQ(optimal_scratch_size({}, limit), 0U);
}
} // namespace
} // namespace femgpu::linalg::test
