#include "linalg/base/indices.h"
#include "linalg/matrices/entry_blocks.h"
#include "linalg/sparse/column_set.h"
#include "linalg/sparse/row_workspace.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
constexpr int largest = std::numeric_limits<int>::max();

std::vector<int> visited(const unsigned int first, const int n, const unsigned int stride)
{
  std::vector<int> items;
  for_strided(first, n, stride, [&](const int i) { items.push_back(i); });
  return items;
}

TEST(Indices, LoopsOfAWholeGridEndWhereTheIndicesDo)
{
  EXPECT_EQ(visited(2, 9, 3), std::vector<int>({2, 5, 8}));
  EXPECT_EQ(visited(9, 9, 3), std::vector<int>());
  const int half = 1 << 30;
  EXPECT_EQ(visited(5, largest, 1U << 30U), std::vector<int>({5, half + 5}));
  EXPECT_EQ(visited((1U << 30U) - 1U, max_indices, 1U << 30U), std::vector<int>({half - 1}));
}

TEST(Indices, BlocksOfEntriesAreCountedUpToTheLargestIndex)
{
  for (const int block_size : {256, 512, 1024}) {
    EXPECT_EQ(n_entry_blocks(0, block_size), 0);
    EXPECT_EQ(n_entry_blocks(block_size, block_size), 1);
    EXPECT_EQ(n_entry_blocks(block_size + 1, block_size), 2);
    EXPECT_EQ(n_entry_blocks(largest, block_size), largest / block_size + 1);
    // The index of the last entry, increased by the stride of a block's threads, must fit into int.
    const long long end = 1LL * n_entry_blocks(max_indices, block_size) * block_size;
    EXPECT_LE(end + block_size, largest);
  }
}

TEST(Indices, DenseRowsOfAPreconditionerAreCountedBeyondInt)
{
  EXPECT_EQ(doubles_of_square(0), 0U);
  EXPECT_EQ(doubles_of_square(46341), 2147488281U); // 46341² is the first square beyond int
  EXPECT_EQ(doubles_of_square(100000), 10000000000U);
}

TEST(Indices, SetsOfColumnsAreAsLargeAsTheirTable)
{
  for (const int max_size : {0, 1, 8, 9, 1 << 20})
    EXPECT_GE(ColumnSet::size(max_size), 3 * static_cast<std::size_t>(max_size));
  EXPECT_EQ(ColumnSet::size(largest), (std::size_t{1} << 30U) + std::size_t{1} + largest);
}
} // namespace
} // namespace femgpu::linalg::test
