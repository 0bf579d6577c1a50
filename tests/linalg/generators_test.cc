#include "linalg/execution/make_executor.h"
#include "solve/generators/elasticity.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <array>
#include <utility>

namespace femgpu::linalg::test
{
namespace
{
/// Checks the pattern and the values, including stored zeros, which dense() omits.
void expect_entries(const HostMatrix &A, const std::vector<int> &row_starts,
                    const std::vector<int> &columns, const std::vector<double> &values)
{
  check_csr(A.csr());
  EXPECT_EQ(A.row_starts, row_starts);
  EXPECT_EQ(A.columns, columns);
  EXPECT_EQ(A.values, values);
}

double entry(const HostMatrix &A, const int row, const int column)
{
  for (int k = A.row_starts[row]; k < A.row_starts[row + 1]; ++k)
    if (A.columns[k] == column)
      return A.values[k];
  return 0.;
}

bool is_symmetric(const HostMatrix &A)
{
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      if (entry(A, A.columns[k], i) != A.values[k])
        return false;
  return true;
}

TEST(Generators, TrianglesAreThoseByHand)
{
  expect_entries(generate("poisson2d-p1:2").A, {0, 1}, {0}, {4.});
  const ModelProblem problem = generate("poisson2d-p1:3");
  expect_entries(problem.A, {0, 4, 7, 10, 14}, {0, 1, 2, 3, 0, 1, 3, 0, 2, 3, 0, 1, 2, 3},
                 {4., -1., -1., 0., -1., 4., -1., -1., 4., -1., 0., -1., -1., 4.});
  EXPECT_EQ(problem.b, std::vector<double>(4, 1. / 9.));
}

TEST(Generators, DifferencesAreThoseByHand)
{
  const auto matrix = [](const char *const text) { return generate(text).A; };
  const auto expect_dense = [](const HostMatrix &A, const std::vector<std::vector<double>> &rows) {
    const HostMatrix expected = dense(rows);
    expect_entries(A, expected.row_starts, expected.columns, expected.values);
  };
  expect_dense(matrix("poisson2d-5pt:2x1"), {{4., -1.}, {-1., 4.}});
  expect_dense(matrix("poisson2d-5pt:2"),
               {{4., -1., -1., 0.}, {-1., 4., 0., -1.}, {-1., 0., 4., -1.}, {0., -1., -1., 4.}});
  expect_dense(
      matrix("poisson2d-9pt:2"),
      {{8., -1., -1., -1.}, {-1., 8., -1., -1.}, {-1., -1., 8., -1.}, {-1., -1., -1., 8.}});
  expect_dense(matrix("poisson3d-7pt:1x1x3"), {{6., -1., 0.}, {-1., 6., -1.}, {0., -1., 6.}});
  expect_dense(matrix("poisson3d-27pt:1x2x1"), {{26., -1.}, {-1., 26.}});
  expect_dense(
      matrix("anisotropic2d:2,0.25"),
      {{2.5, -.25, -1., 0.}, {-.25, 2.5, 0., -1.}, {-1., 0., 2.5, -.25}, {0., -1., -.25, 2.5}});
  expect_dense(matrix("convection-diffusion2d:2,2"),
               {{7., -1., -1., 0.}, {-3., 7., 0., -1.}, {-2., 0., 7., -1.}, {0., -2., -3., 7.}});
  expect_dense(matrix("banded:3,2"), {{2.525, -1., -.25}, {-1., 2.525, -1.}, {-.25, -1., 2.525}});
  const HostMatrix A = matrix("anisotropic3d:2,0.5");
  EXPECT_EQ((std::array<double, 4>{entry(A, 0, 0), entry(A, 0, 1), entry(A, 0, 2), entry(A, 0, 4)}),
            (std::array<double, 4>{5., -.5, -1., -1.}));
  const HostMatrix B = matrix("convection-diffusion3d:2,-4"); // wind against x, y and z
  EXPECT_EQ((std::array<double, 4>{entry(B, 0, 0), entry(B, 0, 1), entry(B, 0, 2), entry(B, 0, 4)}),
            (std::array<double, 4>{13., -5., -3., -2.}));
  EXPECT_EQ((std::array<double, 3>{entry(B, 7, 6), entry(B, 7, 5), entry(B, 7, 3)}),
            (std::array<double, 3>{-1., -1., -1.}));
}

// With upwind differences the matrix is an M-matrix for any wind, so no solution oscillates.
TEST(Generators, ConvectionIsStableForEveryPecletNumber)
{
  for (const char *const grid : {"convection-diffusion2d:20,", "convection-diffusion3d:8,"})
    for (const char *const peclet : {"1", "10", "100", "1000"}) {
      SCOPED_TRACE(std::string(grid) + peclet);
      const ModelProblem problem = generate(std::string(grid) + peclet);
      for (int i = 0; i < problem.A.n; ++i)
        for (int k = problem.A.row_starts[i]; k < problem.A.row_starts[i + 1]; ++k)
          ASSERT_EQ(problem.A.values[k] > 0., problem.A.columns[k] == i);
      const auto [report, x] =
          solve(make_executor("host"), method("bicgstab", "jacobi", 1e-10), problem.A, problem.b);
      EXPECT_TRUE(report.converged()) << report.message;
      for (const double x_i : x)
        ASSERT_GT(x_i, 0.);
    }
}

TEST(Generators, RowsAwayFromTheBoundarySumToZero)
{
  for (const char *const text :
       {"poisson2d-p1:6", "poisson2d-5pt:5", "poisson2d-9pt:5", "poisson3d-7pt:5x5x3",
        "poisson3d-27pt:5x5x3", "anisotropic2d:5,0.125", "anisotropic3d:5,8",
        "convection-diffusion2d:5,-4", "convection-diffusion3d:5,8"}) {
    const ModelProblem problem = generate(text);
    const int layers = problem.A.n / 25;
    const int center = 25 * (layers / 2) + 12;
    EXPECT_EQ(multiply(problem.A, std::vector<double>(problem.b.size(), 1.))[center], 0.) << text;
  }
}

TEST(Generators, SourceWeightsAreThoseOfTheUnitSquareAndCube)
{
  for (const char *const text : {"poisson2d-p1:6", "poisson2d-5pt:5", "poisson2d-9pt:5",
                                 "poisson3d-7pt:5", "poisson3d-27pt:5"}) {
    const ModelProblem problem = generate(text);
    std::vector<double> v(problem.b.size()); // the differences are exact for this v, with -Δv = 1
    for (std::size_t i = 0; i < v.size(); ++i) {
      const double x = static_cast<double>(i % 5 + 1) / 6.;
      v[i] = -0.5 * x * x;
    }
    const int center = 25 * (problem.A.n / 25 / 2) + 12;
    EXPECT_NEAR(multiply(problem.A, v)[center], problem.source_weight, 1e-14) << text;
    EXPECT_GT(problem.source_weight, 0.) << text;
  }
  for (const char *const text : {"poisson2d-5pt:5x4", "poisson3d-27pt:5x5x4", "elasticity3d-p1:2",
                                 "convection-diffusion2d:5,1", "anisotropic2d:5,0.1"})
    EXPECT_EQ(generate(text).source_weight, 0.) << text;
}

TEST(Generators, MatricesAreSymmetricIfTheySaySo)
{
  for (const char *const text :
       {"poisson2d-p1:6", "poisson2d-5pt:5x7", "poisson2d-9pt:5x7", "poisson3d-7pt:3x4x5",
        "poisson3d-27pt:3x4x5", "anisotropic2d:5,0.1", "anisotropic3d:5,0.1",
        "convection-diffusion2d:5,3", "convection-diffusion2d:5,0", "convection-diffusion3d:5,2",
        "convection-diffusion3d:5,0", "banded:20,6", "circuit:50", "elasticity3d-p1:3"}) {
    const ModelProblem problem = generate(text);
    check_csr(problem.A.csr());
    EXPECT_EQ(problem.name, text);
    EXPECT_EQ(problem.b.size(), static_cast<std::size_t>(problem.A.n)) << text;
    EXPECT_EQ(is_symmetric(problem.A), problem.is_symmetric) << text;
  }
}

TEST(Generators, SharesOfRowsAreThoseOfTheWhole)
{
  for (const char *const text :
       {"poisson2d-p1:6", "poisson2d-5pt:5x7", "poisson2d-9pt:1x7", "poisson3d-7pt:3x4x5",
        "poisson3d-27pt:3x4x5", "anisotropic2d:5,0.1", "anisotropic3d:5,0.1",
        "convection-diffusion2d:5,3", "convection-diffusion3d:5,2", "banded:50,7", "circuit:50",
        "elasticity3d-p1:3"})
    for (const int n_ranks : {2, 3, 40}) {
      SCOPED_TRACE(std::string(text) + " in " + std::to_string(n_ranks));
      const ModelProblem global = generate(text);
      HostMatrix A;
      std::vector<double> b, coordinates;
      for (int part = 0; part < n_ranks; ++part) {
        const ModelProblem share = generate(text, {part, n_ranks});
        EXPECT_EQ(share.is_symmetric, global.is_symmetric);
        EXPECT_EQ(share.source_weight, global.source_weight);
        EXPECT_EQ(share.A.unknowns->per_node, global.A.unknowns->per_node);
        EXPECT_EQ(share.A.unknowns->dimension, global.A.unknowns->dimension);
        EXPECT_EQ(share.A.unknowns->nodes_along_body, global.A.unknowns->nodes_along_body);
        for (int i = 0; i < share.A.n; ++i) {
          for (int k = share.A.row_starts[i]; k < share.A.row_starts[i + 1]; ++k)
            A.add(share.A.columns[k], share.A.values[k]);
          A.end_row();
        }
        b.insert(b.end(), share.b.begin(), share.b.end());
        const std::vector<double> &points = share.A.unknowns->coordinates;
        coordinates.insert(coordinates.end(), points.begin(), points.end());
      }
      EXPECT_EQ(A.row_starts, global.A.row_starts);
      EXPECT_EQ(A.columns, global.A.columns);
      EXPECT_EQ(A.values, global.A.values);
      EXPECT_EQ(b, global.b);
      EXPECT_EQ(coordinates, global.A.unknowns->coordinates);
    }
}

TEST(Generators, SizesAreThoseOfTheFamilies)
{
  const std::vector<std::pair<std::string, int>> sizes = {
      {"poisson2d-p1:16", 225},           {"poisson2d-p1:32", 961},
      {"poisson2d-p1:64", 3969},          {"poisson2d-p1:128", 16129},
      {"poisson2d-p1:256", 65025},        {"poisson2d-p1:512", 261121},
      {"elasticity3d-p1:5", 540},         {"elasticity3d-p1:11", 4752},
      {"elasticity3d-p1:23", 39744},      {"poisson3d-7pt:3x4x5", 60},
      {"poisson3d-27pt:4", 64},           {"poisson2d-9pt:4x7", 28},
      {"anisotropic3d:4,1e-3", 64},       {"convection-diffusion2d:9,1", 81},
      {"convection-diffusion3d:4,1", 64}, {"circuit:77", 77}};
  for (const auto &[text, n] : sizes)
    EXPECT_EQ(generate(text).A.n, n) << text;
  const HostMatrix A = generate("poisson2d-p1:16").A;
  EXPECT_EQ(A.row_starts[113] - A.row_starts[112], 7);
}

// ------------------------------------------------------------------------------------------------
// Elasticity
// ------------------------------------------------------------------------------------------------

using Displacement = std::array<double, 3>;

/// Computes K u for a displacement u(x, y, z) and calls @p check(x, y, z, force) at the nodes that
/// no edge connects to the clamped face. The rows of the other nodes lack the columns of that face.
template <class Function, class Check>
void for_forces(const int N, const Function &u, const Check &check)
{
  const HostMatrix K = elasticity_matrix(N, 1., 0.3);
  std::vector<double> values;
  const auto for_nodes = [&](const auto &action) {
    for (int z = 0; z <= N; ++z)
      for (int y = 0; y <= N; ++y)
        for (int x = 1; x <= N; ++x)
          action(x, y, z);
  };
  for_nodes([&](const int x, const int y, const int z) {
    for (const double component : u(double(x) / N, double(y) / N, double(z) / N))
      values.push_back(component);
  });
  const std::vector<double> forces = multiply(K, values);
  std::size_t node = 0;
  for_nodes([&](const int x, const int y, const int z) {
    if (x > 1)
      check(x, y, z, Displacement{forces[node], forces[node + 1], forces[node + 2]});
    node += 3;
  });
}

TEST(Elasticity, RigidMotionsNeedNoForce)
{
  using Motion = Displacement (*)(double, double, double);
  const std::vector<Motion> motions = {[](double, double, double) {
                                         return Displacement{1., 0., 0.};
                                       },
                                       [](double, double, double) {
                                         return Displacement{0., 1., 0.};
                                       },
                                       [](double, double, double) {
                                         return Displacement{0., 0., 1.};
                                       },
                                       [](double x, double y, double) {
                                         return Displacement{-y, x, 0.};
                                       },
                                       [](double x, double, double z) {
                                         return Displacement{z, 0., -x};
                                       },
                                       [](double, double y, double z) {
                                         return Displacement{0., -z, y};
                                       }};
  for (const Motion motion : motions)
    for_forces(4, motion, [](int, int, int, const Displacement &force) {
      for (const double component : force)
        EXPECT_NEAR(component, 0., 50. * eps);
    });
}

// Uniaxial stress 1 in x: u = (x, -0.3 y, -0.3 z). Only the face x = 1 is loaded, with a total
// force of 1.
TEST(Elasticity, UniaxialStressIsThatOfYoungAndPoisson)
{
  constexpr int N = 4;
  Displacement sum = {};
  for_forces(
      N,
      [](double x, double y, double z) {
        return Displacement{x, -.3 * y, -.3 * z};
      },
      [&](const int x, int, int, const Displacement &force) {
        for (int c = 0; c < 3; ++c) {
          if (x < N) {
            EXPECT_NEAR(force[c], 0., 50. * eps);
          }
          sum[c] += force[c];
        }
      });
  EXPECT_NEAR(sum[0], 1., 1000. * eps);
  EXPECT_NEAR(sum[1], 0., 1000. * eps);
  EXPECT_NEAR(sum[2], 0., 1000. * eps);
}

// The diagonal block of the corner (1, 0, 0) of a single cube, computed by hand. Two of the six
// tetrahedra share the corner, with the gradients (1, -1, 0) and (1, 0, -1); λ = 15/26, μ = 5/13.
TEST(Elasticity, BlockOfTheCornerOfACubeIsThatByHand)
{
  const HostMatrix K = elasticity_matrix(1, 1., 0.3);
  ASSERT_EQ(K.n, 12);
  const double lambda = 15. / 26., mu = 5. / 13.;
  EXPECT_NEAR(entry(K, 0, 0), (2. * lambda + 6. * mu) / 6., 10. * eps);
  EXPECT_NEAR(entry(K, 1, 1), (lambda + 5. * mu) / 6., 10. * eps);
  EXPECT_NEAR(entry(K, 0, 1), -(lambda + mu) / 6., 10. * eps);
  EXPECT_NEAR(entry(K, 1, 2), 0., 10. * eps);
}

TEST(Elasticity, WeightIsThatOfTheCubeWithoutTheClampedNodes)
{
  const std::vector<double> b = elasticity_load(5);
  double sum = 0.;
  for (std::size_t i = 0; i < b.size(); ++i) {
    EXPECT_TRUE(i % 3 == 2 ? b[i] < 0. : b[i] == 0.);
    sum += b[i];
  }
  EXPECT_NEAR(sum, -0.9, 100. * eps); // the clamp carries half of the first layer of cells
}

TEST(Elasticity, RowsAwayFromTheBoundaryHave45Entries)
{
  const HostMatrix K = elasticity_matrix(4, 1., 0.3);
  const int row = 3 * ((2 * 5 + 2) * 4 + 1); // node (2, 2, 2) of 4 x 5 x 5
  EXPECT_EQ(K.row_starts[row + 1] - K.row_starts[row], 45);
}

TEST(Elasticity, SystemIsPositiveDefiniteEnoughForCg)
{
  const ModelProblem problem = generate("elasticity3d-p1:6");
  const auto [report, x] =
      solve(make_executor("host"), method("cg", "jacobi", 1e-10), problem.A, problem.b);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_LT(x[x.size() - 1], 0.); // the cube bends down
}

// ------------------------------------------------------------------------------------------------
// Texts
// ------------------------------------------------------------------------------------------------

void expect_refused(const std::string &text, const std::vector<std::string> &substrings)
{
  const std::string message = text_of<ParameterError>([&] { generate(text); });
  for (const std::string &part : substrings)
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks: " << part;
}

TEST(Generators, WrongTextsAreRefusedWithTheFormsToUse)
{
  expect_refused("", {"poisson2d-p1:N", "elasticity3d-p1:N"});
  expect_refused("poisson", {"'poisson'", "poisson3d-7pt:NX[xNYxNZ]"});
  expect_refused("poisson2d-p1", {"'' is not an integer", "Use the form poisson2d-p1:N."});
  expect_refused("poisson2d-p1:1", {"'1' is not an integer from 2"});
  expect_refused("poisson2d-p1:4x4", {"'4x4' is not an integer"});
  expect_refused("poisson2d-5pt:0", {"'0' is not an integer from 1"});
  expect_refused("poisson2d-5pt:10x", {"'' is not an integer"});
  expect_refused("poisson2d-5pt:-3", {"'-3'"});
  expect_refused("poisson2d-5pt:3.5", {"'3.5'"});
  expect_refused("poisson2d-5pt:3,1", {"2 parameters instead of 1"});
  expect_refused("poisson2d-5pt:3x3x3", {"3 sizes instead of 1 or 2"});
  expect_refused("poisson3d-7pt:3x3", {"2 sizes instead of 1 or 3", "NX[xNYxNZ]"});
  expect_refused("poisson3d-7pt:3000000000", {"'3000000000'", "2146435071"});
  expect_refused("anisotropic2d:3", {"1 parameters instead of 2", "anisotropic2d:N,EPS"});
  expect_refused("anisotropic2d:3,0", {"EPS must be positive"});
  expect_refused("anisotropic3d:3,nan", {"'nan' is not a finite number"});
  expect_refused("banded:30,0", {"'0' is not an integer from 1"});
  expect_refused("banded:30,30", {"W must be less than N", "banded:N,W"});
  expect_refused("convection-diffusion2d:3,1e", {"'1e' is not a finite number"});
  expect_refused("convection-diffusion3d:3", {"1 parameters instead of 2"});
}

TEST(Generators, TooLargeMatricesAreRefusedWithTheNumbers)
{
  expect_refused("poisson3d-7pt:2000", {"2000 x 2000 x 2000", "8000000000 rows", "2146435071"});
  expect_refused("poisson2d-5pt:2146435071", {"rows"});
  expect_refused("poisson3d-27pt:1000",
                 {"1000 x 1000 x 1000", "26946035992 entries"}); // (3·1000-2)³
  expect_refused("elasticity3d-p1:2146435071", {"rows"});
  expect_refused("elasticity3d-p1:2147483647", {"'2147483647'", "2146435071"});
  expect_refused("elasticity3d-p1:600", {"entries"});
}
} // namespace
} // namespace femgpu::linalg::test
