#include "linalg/base/error.h"
#include "linalg/partitions/partition.h"
#include "linalg/transformations/linear_system_transformation.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>

namespace femgpu::linalg::test
{
namespace
{
/// Checks that every row occurs once, that rows of a block keep their order, and that nodes stay
/// together.
void expect_valid(const Partition &partition, const HostMatrix &A)
{
  ASSERT_EQ(partition.starts.front(), 0);
  ASSERT_EQ(partition.starts.back(), A.n);
  if (partition.order.empty())
    return;
  std::vector<int> sorted = partition.order;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < A.n; ++i)
    ASSERT_EQ(sorted[i], i);
  const int node = std::max(A.unknowns->per_node, 1);
  for (int block = 0; block < partition.n_blocks(); ++block) {
    const int begin = partition.starts[block], end = partition.starts[block + 1];
    EXPECT_LT(begin, end) << "block " << block << " is empty";
    EXPECT_EQ(begin % node, 0) << "block " << block << " cuts a node";
    EXPECT_TRUE(std::is_sorted(partition.order.begin() + begin, partition.order.begin() + end));
  }
}

/// Returns the number of entries of A that connect different blocks.
int cut_entries(const Partition &partition, const HostMatrix &A)
{
  std::vector<int> block_of(static_cast<std::size_t>(A.n));
  for (int block = 0; block < partition.n_blocks(); ++block)
    for (int i = partition.starts[block]; i < partition.starts[block + 1]; ++i)
      block_of[partition.order.empty() ? i : partition.order[i]] = block;
  int cut = 0;
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      cut += block_of[i] != block_of[A.columns[k]] ? 1 : 0;
  return cut;
}

std::vector<std::string> partitions_built()
{
  std::vector<std::string> kinds = partition_choices();
  if (!have_metis())
    kinds.erase(std::find(kinds.begin(), kinds.end(), "metis"));
  return kinds;
}

TEST(Partition, ContiguousPiecesDifferByOneNodeAtMost)
{
  EXPECT_EQ(make_partition("contiguous", laplacian_1d(10).csr(), 3).starts,
            (std::vector<int>{0, 3, 6, 10}));
  const HostMatrix elasticity = generate("elasticity3d-p1:1").A; // four nodes of three unknowns
  EXPECT_EQ(make_partition("contiguous", elasticity.csr(), 3).starts,
            (std::vector<int>{0, 3, 6, 12}));
}

TEST(Partition, BisectionCutsASquareIntoQuarters)
{
  const HostMatrix A = generate("poisson2d-5pt:4").A;
  const Partition quarters = make_partition("geometry", A.csr(), 4);
  EXPECT_EQ(quarters.starts, (std::vector<int>{0, 4, 8, 12, 16}));
  EXPECT_EQ(quarters.order,
            (std::vector<int>{0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15}));
}

TEST(Partition, EveryRowIsThereOnceAndNodesStayTogether)
{
  for (const char *const problem :
       {"poisson2d-5pt:1", "poisson3d-7pt:9x8x7", "elasticity3d-p1:4", "poisson2d-p1:21"}) {
    const HostMatrix A = generate(problem).A;
    for (const std::string &kind : partitions_built())
      for (const int n_blocks : {1, 2, 7, 13}) {
        SCOPED_TRACE(std::string(problem) + ", " + kind + ", " + std::to_string(n_blocks));
        const Partition partition = make_partition(kind, A.csr(), n_blocks);
        expect_valid(partition, A);
        EXPECT_EQ(partition.order, make_partition(kind, A.csr(), n_blocks).order);
        const int n_nodes = A.n / std::max(A.unknowns->per_node, 1);
        EXPECT_LE(partition.n_blocks(), std::min(n_blocks, n_nodes));
        EXPECT_LE(partition.largest_block(), 1.2 * A.n / partition.n_blocks() + 6);
      }
  }
}

TEST(Partition, GeometryAndGraphCutFewerEntriesThanNumbers)
{
  const HostMatrix A = generate("poisson3d-7pt:20").A;
  const int contiguous = cut_entries(make_partition("contiguous", A.csr(), 27), A);
  for (const std::string &kind : partitions_built())
    if (kind != "contiguous") {
      EXPECT_LT(cut_entries(make_partition(kind, A.csr(), 27), A), 0.7 * contiguous) << kind;
    }
}

TEST(Partition, NodeGraphHasBothDirectionsAndNoLoops)
{
  const HostMatrix A =
      dense({{1., 0., 2., 0.}, {0., 1., 0., 0.}, {0., 0., 1., 3.}, {0., 0., 0., 1.}});
  const NodeGraph rows = node_graph(A.csr(), 1);
  EXPECT_EQ(rows.starts, (std::vector<unsigned int>{0, 1, 1, 3, 4}));
  EXPECT_EQ(rows.neighbours, (std::vector<unsigned int>{2, 0, 3, 2}));
  const NodeGraph nodes = node_graph(A.csr(), 2);
  EXPECT_EQ(nodes.starts, (std::vector<unsigned int>{0, 1, 2}));
  EXPECT_EQ(nodes.neighbours, (std::vector<unsigned int>{1, 0}));
}

TEST(Partition, WithoutCoordinatesBisectionSaysWhatElseThereIs)
{
  const HostMatrix A = random_spd(9, 2, 1);
  const std::string text = text_of<ParameterError>([&] { make_partition("geometry", A.csr(), 2); });
  EXPECT_NE(text.find("coordinates"), std::string::npos) << text;
  EXPECT_NE(text.find("partition=metis"), std::string::npos) << text;
}

TEST(Partition, CoordinatesFollowTheRowsOfATransformedSystem)
{
  const HostMatrix A = generate("poisson2d-5pt:5x3").A;
  std::vector<double> numbers(static_cast<std::size_t>(A.n));
  for (int i = 0; i < A.n; ++i)
    numbers[i] = i;
  for (const char *const ordering : {"none", "rcm"})
    for (const char *const scaling : {"none", "symmetric"}) {
      LinearSystemTransformation transformation(scaling, ordering);
      const HostCsr transformed = transformation.setup(A.csr());
      // x_i is the number of the original row of row i; both must have the same coordinates.
      std::vector<double> x(numbers.size());
      LinearSystemTransformation order_alone("none", ordering);
      order_alone.setup(A.csr());
      order_alone.transform_rhs(numbers.data(), x.data());
      ASSERT_FALSE(transformed.unknowns->coordinates.empty());
      EXPECT_EQ(transformed.unknowns->dimension, 2);
      for (int i = 0; i < A.n; ++i) {
        const int row = static_cast<int>(x[i]);
        const double *point = &transformed.unknowns->coordinates[2 * static_cast<std::size_t>(i)];
        EXPECT_EQ(point[0], row % 5);
        EXPECT_EQ(point[1], row / 5);
      }
    }
}
} // namespace
} // namespace femgpu::linalg::test
