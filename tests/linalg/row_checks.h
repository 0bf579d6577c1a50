#ifndef femgpu_tests_linalg_row_checks_h
#define femgpu_tests_linalg_row_checks_h

#include "linalg/preconditioners/approximate_inverse/least_squares.h"
#include "linalg/sparse/row_product.h"
#include "tests/linalg/step_checks.h"

#include <algorithm>
#include <random>
#include <set>

/**
 * @file
 * Checks teams (the threads that share a row), counts, lists of rows and workspaces on any backend:
 * rows_test.cc runs the checks on the host, rows_cuda_test.cu on a CUDA device.
 */
namespace femgpu::linalg::test
{
/// For row i, the threads of a team add the numbers below i % 41 to `sums`. In `of_scratch`, they
/// store i if each of them has read from scratch what another thread has written.
template <int team_size_>
struct AddInTeams
{
  static constexpr int team_size = team_size_, scratch = team_size_;
  double *sums, *of_scratch;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    double sum = 0.;
    for (int k = team.rank(); k < i % 41; k += team.size())
      sum += k;
    sum = team.sum(sum);
    team.scratch()[team.rank()] = i + team.rank();
    team.sync();
    const double found = team.sum(team.scratch()[team.size() - 1 - team.rank()]);
    if (team.rank() == 0) {
      sums[i] = sum;
      of_scratch[i] = (found - 0.5 * team.size() * (team.size() - 1)) / team.size();
    }
  }
};

template <class Backend, int team_size>
void check_teams(const ExecutorPtr &executor)
{
  for (const int n : edge_case_sizes()) {
    SCOPED_TRACE(std::to_string(n) + " items, teams of " + std::to_string(team_size));
    Buffer<double> sums(executor, static_cast<std::size_t>(n)), of_scratch(executor, sums.size());
    Runner<Backend>(*executor).run(teams(n, AddInTeams<team_size>{sums.data(), of_scratch.data()}));
    const std::vector<double> added = sums.to_host(), found = of_scratch.to_host();
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(added[i], 0.5 * (i % 41) * (i % 41 - 1)) << i;
      ASSERT_EQ(found[i], i);
    }
  }
}

template <class Backend>
void check_teams_of_all_sizes(const ExecutorPtr &executor)
{
  check_teams<Backend, 8>(executor);
  check_teams<Backend, 32>(executor);
  check_teams<Backend, 128>(executor);
  check_teams<Backend, 256>(executor);
  check_teams<Backend, 512>(executor);
  check_teams<Backend, 1024>(executor);
}

inline Buffer<int> buffer_of(const ExecutorPtr &executor, const std::vector<int> &v)
{
  return {executor, v.data(), v.size()};
}

inline std::vector<int> random_counts(const int n, const int below)
{
  std::mt19937 random(7U + static_cast<unsigned int>(n));
  std::vector<int> counts(static_cast<std::size_t>(n));
  for (int &count : counts)
    count = static_cast<int>(random() % static_cast<unsigned int>(below));
  return counts;
}

template <class Backend>
void check_counts_are_added_and_scanned(const ExecutorPtr &executor)
{
  for (const int n : edge_case_sizes()) {
    SCOPED_TRACE(n);
    const std::vector<int> counts = random_counts(n, 50);
    const Buffer<int> buffer = buffer_of(executor, counts);
    const CountTotals totals = total_counts<Backend>(executor, buffer.data(), n);
    EXPECT_EQ(totals.sum, std::accumulate(counts.begin(), counts.end(), 0LL));
    EXPECT_EQ(totals.largest, n > 0 ? *std::max_element(counts.begin(), counts.end()) : 0);
    Buffer<int> starts(executor, counts.size() + 1);
    scan_counts<Backend>(executor, buffer.data(), n, starts.data());
    std::vector<int> expected(1, 0);
    for (const int count : counts)
      expected.push_back(expected.back() + count);
    EXPECT_EQ(starts.to_host(), expected);
  }
}

template <class Backend>
void check_sums_of_counts_do_not_overflow(const ExecutorPtr &executor)
{
  const std::vector<int> counts(3, 2147483647);
  const Buffer<int> buffer = buffer_of(executor, counts);
  const CountTotals totals = total_counts<Backend>(executor, buffer.data(), 3);
  EXPECT_EQ(totals.sum, 3 * 2147483647LL);
  EXPECT_THROW(make_rows<Backend>(executor, buffer), SolverError);
}

template <class Backend>
void check_flagged_rows_are_listed(const ExecutorPtr &executor)
{
  for (const int n : edge_case_sizes()) {
    SCOPED_TRACE(n);
    const std::vector<int> flags = random_counts(n, 2);
    std::vector<int> expected;
    for (int i = 0; i < n; ++i)
      if (flags[i] == 1)
        expected.push_back(i);
    const RowList list = flagged_rows<Backend>(executor, buffer_of(executor, flags));
    EXPECT_EQ(list.n, static_cast<int>(expected.size()));
    EXPECT_EQ(list.indices.to_host(), expected);
  }
}

// ------------------------------------------------------------------------------------------------
// Products of patterns
// ------------------------------------------------------------------------------------------------

using Rows = std::vector<std::vector<int>>;

template <class Backend>
RowPattern make_pattern(const ExecutorPtr &executor, const Rows &rows)
{
  std::vector<int> lengths, columns;
  for (const std::vector<int> &row : rows) {
    lengths.push_back(static_cast<int>(row.size()));
    columns.insert(columns.end(), row.begin(), row.end());
  }
  RowPattern pattern = make_rows<Backend>(executor, buffer_of(executor, lengths));
  pattern.columns.copy_from_host(columns.data());
  return pattern;
}

/// Returns a pattern with mostly short rows, some empty rows, and a few rows so long that a team's
/// scratch cannot hold their column sets. Products of the other rows have a few dozen columns.
inline Rows uneven_rows(const int n, const unsigned int seed)
{
  std::mt19937 random(seed);
  Rows rows(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const int length = i % 997 == 0   ? n / 3
                       : i % 411 == 0 ? 700
                       : i % 7 == 0   ? 0
                       : i % 5 == 0   ? 14 + i % 8
                                      : 4;
    std::set<int> columns;
    for (int k = 0; k < length; ++k)
      columns.insert(static_cast<int>(random() % static_cast<unsigned int>(n)));
    rows[i].assign(columns.begin(), columns.end());
  }
  return rows;
}

template <class Backend>
void check_products_of_uneven_patterns(const ExecutorPtr &executor)
{
  for (const int n : {1, 33, 20000}) {
    SCOPED_TRACE(n);
    const Rows P = uneven_rows(n, 1), B = uneven_rows(n, 2);
    const RowPattern rows_of_P = make_pattern<Backend>(executor, P);
    const RowPattern rows_of_B = make_pattern<Backend>(executor, B);
    const RowPattern product =
        PatternProduct<Backend>(pattern_of(executor, rows_of_P), pattern_of(executor, rows_of_B))
            .columns("The product");
    const std::vector<int> starts = product.row_starts.to_host(),
                           columns = product.columns.to_host();
    for (int i = 0; i < n; ++i) {
      std::set<int> expected;
      for (const int j : P[i])
        expected.insert(B[j].begin(), B[j].end());
      ASSERT_EQ(std::vector<int>(columns.begin() + starts[i], columns.begin() + starts[i + 1]),
                std::vector<int>(expected.begin(), expected.end()))
          << "row " << i;
    }
  }
}

// ------------------------------------------------------------------------------------------------
// Least squares
// ------------------------------------------------------------------------------------------------

constexpr int n_dense_problems = 70;

/// Solves least squares problems with the same dense matrix, n1 x n2 by columns. The right-hand
/// side of problem `item` is row `item` of the identity.
struct SolveDense
{
  const double *A;
  int n1, n2;
  double *m;
  int *n_dependent;

  template <class Team, class RowWorkspace>
  FEMGPU_HD
  bool operator()(const Team &team, const RowWorkspace &workspace) const
  {
    const int item = workspace.row;
    const LeastSquares problem(workspace.memory, n1, n2);
    problem.clear(team);
    for (int l = team.rank(); l < n1; l += team.size())
      problem.column(n2)[l] = l == item % n1 ? 1. : 0.;
    for (int c = team.rank(); c < n2; c += team.size()) {
      double squares = 0.;
      for (int l = 0; l < n1; ++l) {
        problem.column(c)[l] = A[c * n1 + l];
        squares += A[c * n1 + l] * A[c * n1 + l];
      }
      problem.squared_norm(c) = squares;
    }
    team.sync();
    const int dependent = problem.factorise(team);
    if (team.rank() == 0)
      n_dependent[item] = dependent;
    problem.substitute(team, m + static_cast<std::size_t>(item) * n2);
    return true;
  }
};

struct DenseSolutions
{
  std::vector<double> m;
  std::vector<int> n_dependent;
};

template <class Backend, int team_size>
DenseSolutions solve_dense(const ExecutorPtr &executor, const std::vector<double> &A, const int n1,
                           const int n2, const bool in_scratch)
{
  const Buffer<double> matrix = buffer_of(executor, A);
  Buffer<double> m(executor, static_cast<std::size_t>(n_dense_problems * n2));
  Buffer<int> n_dependent(executor, n_dense_problems);
  const SolveDense body{matrix.data(), n1, n2, m.data(), n_dependent.data()};
  const std::size_t size = LeastSquares::size(n1, n2);
  if (in_scratch)
    run_teams<Backend, team_size, true>(
        executor, {nullptr, n_dense_problems, 0, static_cast<int>(size)}, body, nullptr);
  else
    for_each_batch(executor, {n_dense_problems, Buffer<int>()},
                   std::vector<std::size_t>(n_dense_problems, size), [&](const RowBatch &batch) {
                     run_teams<Backend, team_size, false>(executor, batch, body, nullptr);
                   });
  return {m.to_host(), n_dependent.to_host()};
}

/// Returns an n1 x n2 matrix with entries from -1 to 1, by columns. If 2 <= twice < n2, column
/// @p twice is the sum of the two columns before it.
inline std::vector<double> dense_columns(const int n1, const int n2, const int twice)
{
  std::vector<double> A = random_vector(n1 * n2, 5);
  if (twice >= 2 && twice < n2)
    for (int l = 0; l < n1; ++l)
      A[twice * n1 + l] = A[(twice - 1) * n1 + l] + A[(twice - 2) * n1 + l];
  return A;
}

/// Solves the least squares problems by Gram-Schmidt with reorthogonalisation, in long double.
inline DenseSolutions reference_solutions(const std::vector<double> &A, const int n1, const int n2)
{
  using Vector = std::vector<long double>;
  const auto dot = [](const Vector &v, const Vector &w) {
    return std::inner_product(v.begin(), v.end(), w.begin(), 0.L);
  };
  std::vector<Vector> Q, R(n2, Vector(n2, 0.L));
  int n_dependent = 0;
  for (int c = 0; c < n2; ++c) {
    const double *const a = A.data() + static_cast<std::size_t>(c) * n1;
    Vector q(a, a + n1);
    const long double norm = std::sqrt(dot(q, q));
    for (int k = 0; k < 2 * c; ++k) {
      const int l = k % c;
      const long double projection = dot(Q[l], q);
      R[l][c] += projection;
      for (int i = 0; i < n1; ++i)
        q[i] -= projection * Q[l][i];
    }
    R[c][c] = std::sqrt(dot(q, q));
    const bool is_dependent = R[c][c] < 1e-12L * norm;
    n_dependent += is_dependent ? 1 : 0;
    R[c][c] = is_dependent ? 0.L : R[c][c];
    for (long double &q_i : q)
      q_i = is_dependent ? 0.L : q_i / R[c][c];
    Q.push_back(q);
  }
  DenseSolutions result;
  result.n_dependent.assign(n_dense_problems, n_dependent);
  for (int item = 0; item < n_dense_problems; ++item) {
    Vector m(n2);
    for (int c = n2 - 1; c >= 0; --c) {
      long double sum = Q[c][item % n1];
      for (int l = c + 1; l < n2; ++l)
        sum -= R[c][l] * m[l];
      m[c] = R[c][c] > 0.L ? sum / R[c][c] : 0.L;
    }
    result.m.insert(result.m.end(), m.begin(), m.end());
  }
  return result;
}

template <class Backend, int team_size>
void check_least_squares_of(const ExecutorPtr &executor, const int n1, const int n2,
                            const int twice, const DenseSolutions &expected)
{
  const std::vector<double> A = dense_columns(n1, n2, twice);
  const DenseSolutions in_scratch = solve_dense<Backend, team_size>(executor, A, n1, n2, true);
  const DenseSolutions in_memory = solve_dense<Backend, team_size>(executor, A, n1, n2, false);
  EXPECT_EQ(in_scratch.m, in_memory.m);
  EXPECT_EQ(in_scratch.n_dependent, in_memory.n_dependent);
  EXPECT_EQ(in_scratch.n_dependent, expected.n_dependent);
  for (std::size_t k = 0; k < expected.m.size(); ++k)
    ASSERT_NEAR(in_scratch.m[k], expected.m[k], 1e-11 * (1. + std::abs(expected.m[k])))
        << "element " << k;
}

/// Checks that scratch and global memory give bitwise equal results.
template <class Backend>
void check_least_squares_do_not_depend_on_the_workspace(const ExecutorPtr &executor)
{
  const std::vector<std::pair<int, int>> sizes = {{1, 1},    {7, 3},    {25, 7},  {31, 8},
                                                  {32, 9},   {33, 33},  {65, 14}, {3, 5},
                                                  {125, 27}, {195, 37}, {257, 40}};
  for (const auto &[n1, n2] : sizes)
    for (const int twice : {-1, 2, 11}) {
      SCOPED_TRACE(std::to_string(n1) + " x " + std::to_string(n2) + ", " + std::to_string(twice));
      const DenseSolutions expected = reference_solutions(dense_columns(n1, n2, twice), n1, n2);
      if (LeastSquares::size(n1, n2) < 3000)
        check_least_squares_of<Backend, 32>(executor, n1, n2, twice, expected);
      check_least_squares_of<Backend, 128>(executor, n1, n2, twice, expected);
      check_least_squares_of<Backend, 256>(executor, n1, n2, twice, expected);
    }
}
} // namespace femgpu::linalg::test

#endif
