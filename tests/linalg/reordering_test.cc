#include "linalg/partitions/partition.h"
#include "linalg/transformations/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace femgpu::linalg::test
{
namespace
{
bool is_permutation(std::vector<int> order, const int n)
{
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  std::sort(order.begin(), order.end());
  return order == all;
}

/// Returns the bandwidth of A, max |i - j| over all entries.
int bandwidth(const HostCsr &A)
{
  int largest = 0;
  for (int i = 0; i < A.n; ++i)
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      largest = std::max(largest, std::abs(i - A.columns[k]));
  return largest;
}

/// Returns P A Pᵀ, where the permutation P puts the rows into @p order.
HostMatrix permuted(const HostMatrix &A, const std::vector<int> &order)
{
  const PermutedPattern pattern = permute_pattern(A.csr(), order);
  HostMatrix result;
  result.n = A.n;
  result.row_starts = pattern.row_starts;
  result.columns = pattern.columns;
  result.values.resize(A.values.size());
  permute(pattern.entries, A.values.data(), result.values.data());
  check_csr(result.csr());
  return result;
}

std::vector<int> scrambled(const int n, const unsigned int seed)
{
  const std::vector<double> keys = random_vector(n, seed);
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](const int a, const int b) { return keys[a] < keys[b]; });
  return order;
}

TEST(Reordering, BandwidthIsThatByHand)
{
  EXPECT_EQ(bandwidth(HostMatrix().csr()), 0);
  EXPECT_EQ(bandwidth(diagonal({1., 2.}).csr()), 0);
  EXPECT_EQ(bandwidth(laplacian_2d(7, 3).csr()), 7);
  EXPECT_EQ(bandwidth(dense({{1., 0., 0.}, {0., 1., 0.}, {5., 0., 1.}}).csr()), 2);
}

TEST(Reordering, PermutedMatrixIsThatByHand)
{
  const HostMatrix A = dense({{1., 2., 0.}, {3., 4., 5.}, {0., 6., 7.}});
  const HostMatrix expected = dense({{7., 0., 6.}, {0., 1., 2.}, {5., 3., 4.}});
  const HostMatrix result = permuted(A, {2, 0, 1});
  EXPECT_EQ(result.columns, expected.columns);
  EXPECT_EQ(result.values, expected.values);
  const std::vector<double> v = {10., 20., 30.};
  std::vector<double> Pv(3), back(3);
  permute({2, 0, 1}, v.data(), Pv.data());
  EXPECT_EQ(Pv, (std::vector<double>{30., 10., 20.}));
  unpermute({2, 0, 1}, Pv.data(), back.data());
  EXPECT_EQ(back, v);
}

TEST(Reordering, PermutedProductIsTheProductPermuted)
{
  for (const int n : {1, 31, 32, 33, 3000}) {
    const HostMatrix A = with_integer_values(random_dominant(n, 6, 1), 2);
    const std::vector<int> order = scrambled(n, 3);
    const std::vector<double> v = integer_vector(n, 4), Av = multiply(A, v);
    std::vector<double> Pv(v.size()), PAv(v.size());
    permute(order, v.data(), Pv.data());
    permute(order, Av.data(), PAv.data());
    EXPECT_EQ(multiply(permuted(A, order), Pv), PAv);
  }
}

TEST(Reordering, OrdersThatAreNoPermutationAreRefused)
{
  const HostMatrix A = laplacian_1d(3);
  const auto text = [&](const std::vector<int> &order) {
    return text_of<SolverError>([&] { permute_pattern(A.csr(), order); });
  };
  EXPECT_NE(text({0, 1}).find("2 rows does not fit a matrix with 3"), std::string::npos);
  EXPECT_NE(text({0, 1, 1}).find("Element 2 of the permutation of 3 rows is 1"), std::string::npos);
  EXPECT_NE(text({0, 3, 1}).find("Element 1 of the permutation of 3 rows is 3"), std::string::npos);
  EXPECT_NE(text({-1, 0, 1}).find("is -1"), std::string::npos);
}

// The path 0 - 3 - 1 - 4 - 2 must regain bandwidth 1.
TEST(ReverseCuthillMcKee, PathThatIsScrambledGetsItsBandwidthBack)
{
  const HostMatrix A = dense({{2., 0., 0., 1., 0.},
                              {0., 2., 0., 1., 1.},
                              {0., 0., 2., 0., 1.},
                              {1., 1., 0., 2., 0.},
                              {0., 1., 1., 0., 2.}});
  const std::vector<int> order = reverse_cuthill_mckee(A.csr());
  EXPECT_TRUE(order == (std::vector<int>{0, 3, 1, 4, 2}) ||
              order == (std::vector<int>{2, 4, 1, 3, 0}));
  const HostMatrix line = permuted(laplacian_1d(1001), scrambled(1001, 5));
  EXPECT_EQ(bandwidth(permuted(line, reverse_cuthill_mckee(line.csr())).csr()), 1);
}

TEST(ReverseCuthillMcKee, ScrambledGridGetsABandwidthOfItsWidth)
{
  const HostMatrix A = permuted(laplacian_2d(60, 20), scrambled(1200, 6));
  EXPECT_GT(bandwidth(A.csr()), 1000);
  const std::vector<int> order = reverse_cuthill_mckee(A.csr());
  EXPECT_TRUE(is_permutation(order, 1200));
  EXPECT_LE(bandwidth(permuted(A, order).csr()), 21);
  EXPECT_EQ(reverse_cuthill_mckee(A.csr()), order);
}

TEST(ReverseCuthillMcKee, UnsymmetricPatternsAreOrderedAsTheirSumWithTheTransposed)
{
  HostMatrix upper, path = laplacian_1d(50);
  for (int i = 0; i < 50; ++i) {
    upper.add(i, 1.);
    if (i < 49)
      upper.add(i + 1, 1.);
    upper.end_row();
  }
  const std::vector<int> permutation = scrambled(50, 7);
  const std::vector<int> order = reverse_cuthill_mckee(permuted(upper, permutation).csr());
  EXPECT_EQ(order, reverse_cuthill_mckee(permuted(path, permutation).csr()));
  EXPECT_EQ(bandwidth(permuted(permuted(upper, permutation), order).csr()), 1);
}

TEST(ReverseCuthillMcKee, AwkwardGraphsGetAPermutation)
{
  EXPECT_TRUE(reverse_cuthill_mckee(HostMatrix().csr()).empty());
  for (const HostMatrix &A : {diagonal({3.}), arrow(300), with_empty_rows(100),
                              dense({{0., 0.}, {0., 0.}}), random_spd(2000, 2, 1)})
    EXPECT_TRUE(is_permutation(reverse_cuthill_mckee(A.csr()), A.n));
}

// 50000 pairs and 50000 single rows would take minutes if each component traversed the whole graph.
TEST(ReverseCuthillMcKee, ManyComponentsStayTogetherAndTakeLinearTime)
{
  constexpr int n_pairs = 50000;
  HostMatrix A;
  for (int i = 0; i < 3 * n_pairs; ++i) {
    if (i >= 2 * n_pairs)
      A.add(i - 2 * n_pairs, 1.);
    A.add(i, 1.);
    if (i < n_pairs)
      A.add(i + 2 * n_pairs, 1.);
    A.end_row();
  }
  const std::vector<int> order = reverse_cuthill_mckee(A.csr());
  EXPECT_TRUE(is_permutation(order, A.n));
  EXPECT_EQ(bandwidth(permuted(A, order).csr()), 1);
}

std::vector<int> kway(const HostCsr &A, const int n_parts, const LocalOrdering within)
{
  return ordering_by_parts("metis", A, n_parts, within).order;
}

class KwayOrdering : public testing::Test
{
protected:
  void SetUp() override
  {
    if (!have_metis())
      GTEST_SKIP() << "built without METIS";
  }
};

/// Divides the rows into @p parts blocks of equal size. Returns the number of entries that connect
/// different blocks.
int entries_between(const HostMatrix &A, const int parts)
{
  int count = 0;
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      count += (i * parts / A.n != A.columns[k] * parts / A.n) ? 1 : 0;
  return count;
}

TEST_F(KwayOrdering, ScrambledGridGetsItsBlocksBack)
{
  const HostMatrix A = permuted(laplacian_2d(64, 64), scrambled(4096, 8));
  const int strips = entries_between(laplacian_2d(64, 64), 16);
  for (const LocalOrdering within : {LocalOrdering::none, LocalOrdering::rcm}) {
    const std::vector<int> order = kway(A.csr(), 16, within);
    EXPECT_TRUE(is_permutation(order, A.n));
    EXPECT_LT(entries_between(permuted(A, order), 16), 0.8 * strips);
    EXPECT_EQ(kway(A.csr(), 16, within), order);
  }
}

TEST_F(KwayOrdering, TellsWherePartsBegin)
{
  const HostMatrix A = permuted(laplacian_2d(64, 64), scrambled(4096, 8));
  const Partition parts = make_partition("metis", A.csr(), 16);
  const Partition ordered = ordering_by_parts("metis", A.csr(), 16, LocalOrdering::rcm);
  EXPECT_EQ(ordered.starts, parts.starts);
  for (int part = 0; part < 16; ++part) {
    const auto of_part = [&](const std::vector<int> &order) {
      std::vector<int> rows(order.begin() + parts.starts[part],
                            order.begin() + parts.starts[part + 1]);
      std::sort(rows.begin(), rows.end());
      return rows;
    };
    EXPECT_EQ(of_part(ordered.order), of_part(parts.order));
  }
}

TEST_F(KwayOrdering, PartsAreOrderedByCuthillMcKeeOrAsTheyCome)
{
  const HostMatrix A = permuted(laplacian_2d(60, 20), scrambled(1200, 6));
  EXPECT_EQ(kway(A.csr(), 1, LocalOrdering::rcm), reverse_cuthill_mckee(A.csr()));
  EXPECT_TRUE(kway(A.csr(), 1, LocalOrdering::none).empty());
  EXPECT_EQ(kway(A.csr(), 0, LocalOrdering::rcm), reverse_cuthill_mckee(A.csr()));
  const std::vector<int> unordered = kway(A.csr(), 4, LocalOrdering::none);
  int descents = 0;
  for (std::size_t i = 1; i < unordered.size(); ++i)
    descents += unordered[i] < unordered[i - 1] ? 1 : 0;
  EXPECT_LE(descents, 3);
}

TEST_F(KwayOrdering, UnknownsOfANodeStayTogether)
{
  const HostMatrix A = generate("elasticity3d-p1:5").A;
  for (const LocalOrdering within : {LocalOrdering::none, LocalOrdering::rcm}) {
    const std::vector<int> order = kway(A.csr(), 6, within);
    EXPECT_TRUE(is_permutation(order, A.n));
    EXPECT_TRUE(preserves_node_blocks(order, 3));
    EXPECT_FALSE(preserves_node_blocks(order, 7));
  }
}

TEST_F(KwayOrdering, AwkwardGraphsGetAPermutation)
{
  EXPECT_TRUE(kway(HostMatrix().csr(), 3, LocalOrdering::rcm).empty());
  for (const HostMatrix &A : {diagonal({3.}), diagonal({1., 2., 3.}), arrow(300),
                              with_empty_rows(100), random_spd(2000, 2, 1)})
    for (const int parts : {2, 7, 1000})
      EXPECT_TRUE(is_permutation(kway(A.csr(), parts, LocalOrdering::rcm), A.n));
}

TEST(KwayOrderingWithoutMetis, IsRefusedWithTheCure)
{
  if (have_metis())
    GTEST_SKIP() << "built with METIS";
  const std::string text = text_of<ParameterError>([] { orderings.make("kway"); });
  EXPECT_NE(text.find("ordering rcm"), std::string::npos) << text;
}
} // namespace
} // namespace femgpu::linalg::test
