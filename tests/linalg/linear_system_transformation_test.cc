#include "linalg/execution/make_executor.h"
#include "linalg/partitions/partition.h"
#include "linalg/transformations/linear_system_transformation.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <numeric>

namespace femgpu::linalg::test
{
namespace
{
HostMatrix owned(const HostCsr &A)
{
  check_csr(A);
  HostMatrix copy;
  copy.n = A.n;
  copy.row_starts.assign(A.row_starts.low, A.row_starts.low + A.n + 1);
  copy.columns.assign(A.columns, A.columns + A.n_nonzeros);
  copy.values.assign(A.values, A.values + A.n_nonzeros);
  return copy;
}

std::vector<std::string> orderings_built()
{
  std::vector<std::string> texts = {"none", "rcm"};
  if (have_metis())
    texts.emplace_back("kway parts=7");
  return texts;
}

std::string name_of_test(const testing::TestParamInfo<std::tuple<std::string, std::string>> &info)
{
  const std::string ordering = std::get<1>(info.param);
  return std::get<0>(info.param) + "_" + ordering.substr(0, ordering.find(' '));
}

/// Tests transformations of linear systems. The parameters are the scaling and the ordering.
class TransformationTest : public testing::TestWithParam<std::tuple<std::string, std::string>>
{
protected:
  LinearSystemTransformation transformation{std::get<0>(GetParam()), std::get<1>(GetParam())};
  const bool scales = std::get<0>(GetParam()) != "none";
  const bool matches = std::get<0>(GetParam()) == "matching";
  const bool orders = matches || std::get<1>(GetParam()) != "none";

  /// Solves the transformed system and returns the solution of the original one.
  std::vector<double> solve_transformed(const HostCsr &transformed,
                                        const std::vector<double> &b) const
  {
    std::vector<double> b_hat(b.size()), x(b.size());
    transformation.transform_rhs(b.data(), b_hat.data());
    const auto [report, x_hat] = solve(make_executor("host"), method("bicgstab", "jacobi", 1e-13),
                                       owned(transformed), b_hat);
    EXPECT_TRUE(report.converged()) << report.message;
    transformation.restore_solution(x_hat.data(), x.data());
    return x;
  }
};

TEST_P(TransformationTest, SolutionIsThatOfTheOriginalSystem)
{
  for (const int n : {1, 2, 31, 33, 700}) {
    HostMatrix A = random_dominant(n, 4, 1);
    for (int i = 0; i < n; ++i) // badly scaled rows
      for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        A.values[k] *= 1. + 100. * (i % 7);
    const std::vector<double> solution = random_vector(n, 2);
    const std::vector<double> x =
        solve_transformed(transformation.setup(A.csr()), multiply(A, solution));
    EXPECT_LE(relative_difference(x, solution), 1e-10) << n << " rows";
  }
}

TEST_P(TransformationTest, RowsMayComeInAnyOrder)
{
  const HostMatrix A = random_dominant(200, 4, 1);
  std::vector<int> order(200);
  for (int i = 0; i < 200; ++i)
    order[i] = (i + 3) % 200;
  std::vector<int> columns(200);
  std::iota(columns.begin(), columns.end(), 0);
  const PermutedPattern pattern = permute_pattern(A.csr(), order, columns);
  HostMatrix B;
  B.n = A.n;
  B.row_starts = pattern.row_starts;
  B.columns = pattern.columns;
  B.values.resize(A.values.size());
  permute(pattern.entries, A.values.data(), B.values.data());
  const std::vector<double> solution = random_vector(200, 3), b = multiply(B, solution);
  const HostCsr B_hat = transformation.setup(B.csr());
  if (matches) { // a matching makes the diagonal large again
    EXPECT_LE(relative_difference(solve_transformed(B_hat, b), solution), 1e-10);
  }
  std::vector<double> x_hat(200), b_hat(200);
  transformation.transform_guess(solution.data(), x_hat.data());
  transformation.transform_rhs(b.data(), b_hat.data());
  EXPECT_LE(relative_difference(multiply(owned(B_hat), x_hat), b_hat), 100. * eps);
}

TEST_P(TransformationTest, NewValuesFollowTheSamePattern)
{
  const HostMatrix A = convection_diffusion(13, 9, 2., 1.),
                   B = convection_diffusion(13, 9, -1., 30.);
  const std::vector<double> solution = random_vector(A.n, 3);
  transformation.setup(A.csr());
  const std::vector<double> x =
      solve_transformed(transformation.update(B.csr()), multiply(B, solution));
  EXPECT_LE(relative_difference(x, solution), 1e-10);
}

TEST_P(TransformationTest, TransformedGuessIsRestored)
{
  const HostMatrix A = random_dominant(200, 4, 1);
  transformation.setup(A.csr());
  const std::vector<double> x = random_vector(200, 4);
  std::vector<double> x_hat(200), back(200);
  transformation.transform_guess(x.data(), x_hat.data());
  EXPECT_EQ(x_hat == x, transformation.is_identity());
  transformation.restore_solution(x_hat.data(), back.data());
  EXPECT_LE(relative_difference(back, x), 4. * eps);
}

TEST_P(TransformationTest, TransformedRightHandSideIsRestored)
{
  const HostMatrix A = random_dominant(200, 4, 1);
  transformation.setup(A.csr());
  const std::vector<double> b = random_vector(200, 4);
  std::vector<double> b_hat(200), back(200);
  transformation.transform_rhs(b.data(), b_hat.data());
  transformation.restore_rhs(b_hat.data(), back.data());
  EXPECT_LE(relative_difference(back, b), 4. * eps);
}

// Â x̂ = b̂ must hold for any transformed vector, not only for solutions.
TEST_P(TransformationTest, ProductIsTheTransformedProduct)
{
  const HostMatrix A = random_dominant(300, 4, 1);
  const HostMatrix A_hat = owned(transformation.setup(A.csr()));
  const std::vector<double> x = random_vector(300, 5), Ax = multiply(A, x);
  std::vector<double> x_hat(300), b_hat(300);
  transformation.transform_guess(x.data(), x_hat.data());
  transformation.transform_rhs(Ax.data(), b_hat.data());
  EXPECT_LE(relative_difference(multiply(A_hat, x_hat), b_hat), 100. * eps);
}

TEST_P(TransformationTest, NothingIsCopiedThatStaysAsItIs)
{
  const HostMatrix A = laplacian_2d(5, 4);
  const HostCsr transformed = transformation.setup(A.csr());
  EXPECT_EQ(transformed.values == A.values.data(), !scales && !orders);
  EXPECT_EQ(transformed.columns == A.columns.data(), !orders);
  EXPECT_EQ(transformation.is_identity(), !scales && !orders);
}

TEST_P(TransformationTest, EmptySystemIsTransformed)
{
  EXPECT_EQ(transformation.setup(HostMatrix().csr()).n, 0);
  transformation.transform_rhs(nullptr, nullptr);
  transformation.restore_solution(nullptr, nullptr);
  transformation.restore_rhs(nullptr, nullptr);
}

TEST_P(TransformationTest, ValuesOfAnotherPatternAreRefused)
{
  const HostMatrix A = laplacian_2d(5, 4), B = laplacian_1d(20);
  EXPECT_NE(text_of<SolverError>([&] { transformation.update(A.csr()); }).find("Set up"),
            std::string::npos);
  transformation.setup(A.csr());
  EXPECT_NE(text_of<SolverError>([&] { transformation.update(B.csr()); }).find("20 rows and 58"),
            std::string::npos);
}

TEST_P(TransformationTest, WhatIsKnownOfUnknownsFollowsTheirRows)
{
  HostMatrix A = laplacian_2d(6, 4);
  CoarserUnknowns coarser;
  for (int i = 0; i < A.n; ++i) { // every third row is empty
    if (i % 3 > 0) {
      coarser.prolongation.columns.push_back(i / 2);
      coarser.prolongation.values.push_back(i);
    }
    coarser.prolongation.row_starts.push_back(static_cast<int>(coarser.prolongation.values.size()));
  }
  Unknowns unknowns = *A.unknowns;
  unknowns.coarser = std::make_shared<const CoarserUnknowns>(coarser);
  A.unknowns = std::make_shared<const Unknowns>(unknowns);
  const HostCsr A_hat = transformation.setup(A.csr());
  if (matches) { // a matching may permute rows
    EXPECT_EQ(A_hat.unknowns, default_unknowns);
    return;
  }
  const Unknowns &known = *A_hat.unknowns;
  const HostProlongation &P = known.coarser.get()->prolongation;
  const std::vector<double> x = random_vector(A.n, 7);
  std::vector<double> x_hat(x.size());
  transformation.transform_guess(x.data(), x_hat.data());
  for (int i = 0; i < A.n; ++i) {
    const double *const point = &known.coordinates[2 * static_cast<std::size_t>(i)];
    const int row = static_cast<int>(point[0] + 6 * point[1]);
    EXPECT_NEAR((known.scales.empty() ? 1. : known.scales[i]) * x_hat[i], x[row], 1e-15);
    ASSERT_EQ(P.row_starts[i + 1] - P.row_starts[i], row % 3 > 0 ? 1 : 0);
    if (row % 3 > 0) {
      EXPECT_EQ(P.columns[P.row_starts[i]], row / 2);
      EXPECT_EQ(P.values[P.row_starts[i]], row);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TransformationTest,
                         testing::Combine(testing::Values("none", "symmetric", "balance",
                                                          "matching"),
                                          testing::ValuesIn(orderings_built())),
                         name_of_test);

TEST(Transformations, NodesAreKnownStillWhereTheirUnknownsStayTogether)
{
  const HostMatrix A = generate("elasticity3d-p1:4").A;
  EXPECT_EQ(LinearSystemTransformation("none", "none").setup(A.csr()).unknowns->per_node, 3);
  EXPECT_EQ(LinearSystemTransformation("none", "rcm").setup(A.csr()).unknowns->per_node % 3, 0);
  if (have_metis()) {
    LinearSystemTransformation transformation("symmetric", "kway parts=5");
    const HostCsr A_hat = transformation.setup(A.csr());
    EXPECT_EQ(A_hat.unknowns->per_node, 3);
    for (int row = 0; row < A_hat.n; row += 3) // the unknowns of a node stay together
      for (int d = 0; d < 6; ++d)
        EXPECT_EQ(A_hat.unknowns->coordinates[3 * row + 3 + d],
                  A_hat.unknowns->coordinates[3 * row + d % 3]);
  }
}

TEST(Transformations, AnOrderingByGeometryNeedsCoordinatesAndTellsItsParts)
{
  HostMatrix A = laplacian_2d(40, 40);
  A.unknowns = default_unknowns;
  LinearSystemTransformation transformation("symmetric", "geometry parts=4");
  EXPECT_NE(text_of<ParameterError>([&] { transformation.setup(A.csr()); }).find("coordinates"),
            std::string::npos);
  Unknowns unknowns;
  unknowns.dimension = 2;
  for (int y = 0; y < A.n / 40; ++y)
    for (int x = 0; x < 40; ++x)
      unknowns.coordinates.insert(unknowns.coordinates.end(), {1. * x, 1. * y});
  A.unknowns = std::make_shared<const Unknowns>(std::move(unknowns));
  const HostCsr A_hat = transformation.setup(A.csr());
  EXPECT_EQ(A_hat.unknowns->part_starts, (std::vector<int>{0, 400, 800, 1200, 1600}));
  for (int i = 0; i < A.n; ++i) // quarters of the square
    for (int d = 0; d < 2; ++d)
      EXPECT_EQ(A_hat.unknowns->coordinates[2 * i + d] < 20.,
                A_hat.unknowns->coordinates[2 * (i / 400 * 400) + d] < 20.);
}

TEST(Transformations, OptionsOfAnOrderingAreChecked)
{
  const auto text = [](const std::string &ordering) {
    return text_of<ParameterError>([&] { LinearSystemTransformation("none", ordering); });
  };
  EXPECT_NE(text("rcm parts=3").find("'rcm' has no option 'parts'; it takes none"),
            std::string::npos);
  EXPECT_NE(text("kway parts=0").find("must be auto or an integer from 1"), std::string::npos);
  EXPECT_NE(text("kway within=amd").find("must be rcm or none"), std::string::npos);
  const std::string unknown = text("kway blocks=3");
  EXPECT_NE(unknown.find(have_metis() ? "use parts, within" : "without METIS"), std::string::npos);
}

TEST(Transformations, UnknownNamesAreRefusedWithTheValidOnes)
{
  EXPECT_NE(text_of<ParameterError>([] {
              LinearSystemTransformation("norms", "none");
            }).find("no scaling 'norms'; use none, symmetric, balance or matching"),
            std::string::npos);
  EXPECT_NE(text_of<ParameterError>([] {
              LinearSystemTransformation("none", "amd");
            }).find("no ordering 'amd'; use none, rcm, kway or geometry"),
            std::string::npos);
  EXPECT_EQ(scalings.choices().size(), 4U);
  EXPECT_EQ(orderings.choices().size(), 4U);
}
} // namespace
} // namespace femgpu::linalg::test
