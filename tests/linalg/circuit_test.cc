#include "linalg/execution/make_executor.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace femgpu::linalg::test
{
namespace
{
int row_length(const HostMatrix &A, const int row)
{
  return A.row_starts[row + 1] - A.row_starts[row];
}

std::vector<int> column_lengths(const HostMatrix &A)
{
  std::vector<int> lengths(static_cast<std::size_t>(A.n));
  for (const int column : A.columns)
    ++lengths[column];
  return lengths;
}

/// Returns |a_ii| divided by the sum of the magnitudes of the other entries in row i.
double dominance(const HostMatrix &A, const int i)
{
  double diagonal = 0., others = 0.;
  for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
    (A.columns[k] == i ? diagonal : others) += std::abs(A.values[k]);
  return others > 0. ? diagonal / others : 1e300;
}

TEST(Circuit, PatternIsUnsymmetricWithFewLongRowsAndColumns)
{
  const HostMatrix A = generate("circuit:20000").A;
  check_csr(A.csr());
  ASSERT_EQ(A.n, 20000);
  int usual = 0, long_rows = 0, one_way = 0;
  std::set<std::pair<int, int>> positions;
  for (int i = 0; i < A.n; ++i) {
    usual += row_length(A, i) >= 2 && row_length(A, i) <= 6 ? 1 : 0;
    long_rows += row_length(A, i) > 1000 ? 1 : 0;
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      positions.emplace(i, A.columns[k]);
  }
  for (const auto &[i, j] : positions)
    one_way += positions.count({j, i}) == 0 ? 1 : 0;
  EXPECT_GT(usual, 0.8 * A.n);
  EXPECT_EQ(long_rows, 2);
  const std::vector<int> lengths = column_lengths(A);
  EXPECT_EQ(std::count_if(lengths.begin(), lengths.end(), [](const int l) { return l > 500; }), 4);
  EXPECT_GT(one_way, 0.1 * static_cast<double>(A.columns.size()));
}

TEST(Circuit, ValuesRangeOverManyPowersOfTen)
{
  const HostMatrix A = generate("circuit:20000").A;
  double smallest = 1., largest = 1.;
  for (const double value : A.values) {
    ASSERT_NE(value, 0.);
    smallest = std::min(smallest, std::abs(value));
    largest = std::max(largest, std::abs(value));
  }
  EXPECT_LT(smallest, 1e-5);
  EXPECT_GT(largest, 3e2);
}

TEST(Circuit, MostRowsAreWeaklyDominatedByTheirDiagonal)
{
  const HostMatrix A = generate("circuit:20000").A;
  int weak = 0, none = 0;
  for (int i = 0; i < A.n; ++i) {
    weak += dominance(A, i) > 1. && dominance(A, i) < 1.4 ? 1 : 0;
    none += dominance(A, i) < 1. ? 1 : 0;
  }
  EXPECT_GT(weak, 0.75 * A.n);
  EXPECT_GT(none, 0.02 * A.n); // sources and the nodes connected to them
}

TEST(Circuit, IsTheSameForTheSameSeedAlone)
{
  const ModelProblem one = generate("circuit:1000"), again = generate("circuit:1000,1"),
                     other = generate("circuit:1000,2");
  EXPECT_EQ(one.A.columns, again.A.columns);
  EXPECT_EQ(one.A.values, again.A.values);
  EXPECT_EQ(one.b, again.b);
  EXPECT_NE(one.A.values, other.A.values);
  EXPECT_FALSE(one.is_symmetric);
}

TEST(Circuit, SolutionHasVoltagesBetween0And1)
{
  for (const char *const text : {"circuit:10", "circuit:11,0", "circuit:33,5", "circuit:3000"}) {
    const ModelProblem problem = generate(text);
    check_csr(problem.A.csr());
    LinearSolverOptions options = method("bicgstab", "ilu level=1", 1e-12);
    options.scaling = "balance";
    const auto [report, x] = solve(make_executor("host"), options, problem.A, problem.b);
    EXPECT_TRUE(report.converged()) << text << ": " << report.message;
    for (const double x_i : x)
      EXPECT_TRUE(x_i > -1e-3 && x_i < 1. + 1e-3) << text << ": " << x_i;
  }
}

TEST(Circuit, WrongTextsAreRefused)
{
  const auto text = [](const std::string &generator) {
    return text_of<ParameterError>([&] { generate(generator); });
  };
  EXPECT_NE(text("circuit:9").find("an integer from 10"), std::string::npos);
  EXPECT_NE(text("circuit:100,-1").find("an integer from 0"), std::string::npos);
  EXPECT_NE(text("circuit:100,1,2").find("3 parameters instead of 1 or 2"), std::string::npos);
  EXPECT_NE(text("circuit:100,1,2").find("Use the form circuit:N[,SEED]"), std::string::npos);
}
} // namespace
} // namespace femgpu::linalg::test
