#include "linalg/execution/backends.h"
#include "linalg/generators/elasticity.h"
#include "linalg/generators/registry.h"
#include "linalg/linear_solver.h"
#include "linalg/preconditioners/multigrid/dense_inverse.h"
#include "linalg/preconditioners/multigrid/prolongation.h"
#include "linalg/preconditioners/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace femgpu::linalg::test
{
namespace
{
class MultigridTest : public OnBackend
{
protected:
  template <class T>
  Buffer<T> buffer(const std::vector<T> &values) const
  {
    return {executor, values.data(), values.size()};
  }

  /// With @p block rows each.
  Nodes nodes(const int n, const int block) const
  {
    std::vector<int> starts, of_row;
    for (int node = 0; node <= n; ++node)
      starts.push_back(node * block);
    for (int i = 0; i < n * block; ++i)
      of_row.push_back(i / block);
    return {buffer(starts), buffer(of_row)};
  }

  template <class Function>
  void with_backend(const Function &f) const
  {
    on_backend(executor->backend(), f);
  }

  /// Strong connections of each node.
  std::vector<std::vector<int>> graph_of(const HostMatrix &A, const int block,
                                         const double theta) const
  {
    std::vector<std::vector<int>> result;
    with_backend([&](const auto on) {
      const RowPattern graph = make_graph<typename decltype(on)::Backend>(A, block, theta);
      const std::vector<int> starts = graph.row_starts.to_host(), columns = graph.columns.to_host();
      for (int node = 0; node < graph.n(); ++node)
        result.emplace_back(columns.begin() + starts[node], columns.begin() + starts[node + 1]);
    });
    return result;
  }

  /// The aggregate of each node.
  std::vector<int> aggregates_of(const HostMatrix &A, const double theta,
                                 const int least_neighbours = 2) const
  {
    std::vector<int> result;
    with_backend([&](const auto on) {
      using Backend = typename decltype(on)::Backend;
      const Aggregates aggregates =
          make_aggregates<Backend>(executor, make_graph<Backend>(A, 1, theta), 0, least_neighbours);
      result = aggregates.of_node.to_host();
      const int largest = result.empty() ? -1 : *std::max_element(result.begin(), result.end());
      EXPECT_EQ(aggregates.n, largest + 1);
    });
    return result;
  }

  std::unique_ptr<Preconditioner> set_up(const std::string &text, const Matrix &A) const
  {
    auto M = make_preconditioner(text, executor->backend());
    M->setup(A);
    return M;
  }

  std::vector<double> apply_to(const Preconditioner &M, const std::vector<double> &r) const
  {
    Buffer<double> from = buffer(r), to(executor, r.size());
    apply(M, *executor, from, to);
    return to.to_host();
  }

private:
  template <class Backend>
  RowPattern make_graph(const HostMatrix &A, const int block, const double theta) const
  {
    const CsrMatrix matrix(executor, A.csr());
    std::vector<double> diagonal(static_cast<std::size_t>(A.n));
    for (int i = 0; i < A.n; ++i)
      for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        if (A.columns[k] == i)
          diagonal[i] = A.values[k];
    return strong_connections<Backend>(matrix, nodes(A.n / block, block), buffer(diagonal).data(),
                                       theta);
  }
};

/// A matrix of any shape, in host memory.
struct OnHost
{
  explicit OnHost(const CsrMatrix &A)
      : row_starts(A.host_row_starts()), columns(A.host_columns()), values(A.n_nonzeros())
  {
    if (!values.empty())
      A.executor()->copy_to_host(values.data(), A.csr_view().values,
                                 values.size() * sizeof(double));
  }

  std::vector<int> row_starts, columns;
  std::vector<double> values;
};

double dot(const std::vector<double> &u, const std::vector<double> &v)
{
  return std::inner_product(u.begin(), u.end(), v.begin(), 0.);
}

TEST_P(MultigridTest, ConnectionsAreStrongFromThetaOnWhateverTheUnits)
{
  const double s = 1e3;                                // of unknown 1
  const HostMatrix A = dense({{4., -1. * s, 0., -.39}, //
                              {-1. * s, 4. * s * s, -.41 * s, 0.},
                              {0., -.41 * s, 4., 0.},
                              {-.39, 0., 0., 4.}});
  using Graph = std::vector<std::vector<int>>;
  EXPECT_EQ(graph_of(A, 1, 0.1), (Graph{{1}, {0, 2}, {1}, {}}));
  EXPECT_EQ(graph_of(A, 1, 0.09), (Graph{{1, 3}, {0, 2}, {1}, {0}}));
  EXPECT_EQ(graph_of(A, 1, 0.25), (Graph{{1}, {0}, {}, {}})); // equality is strong
  EXPECT_EQ(graph_of(A, 2, 0.1), (Graph{{1}, {0}}));
  EXPECT_EQ(graph_of(A, 2, 0.2), (Graph{{}, {}}));
}

TEST_P(MultigridTest, EveryConnectedNodeIsInOneAggregateWithNeighbours)
{
  HostMatrix with_loner = laplacian_2d(30, 20);
  with_loner.add(with_loner.n, 1.);
  with_loner.end_row();
  with_loner.unknowns = nothing_known;
  for (const HostMatrix &A : {laplacian_1d(1), laplacian_1d(2), laplacian_1d(33), with_loner,
                              box_27(7, 8, 9), random_spd(3000, 6, 3), arrow(200)}) {
    SCOPED_TRACE(A.n);
    const std::vector<int> of_node = aggregates_of(A, 0.);
    const std::vector<std::vector<int>> graph = graph_of(A, 1, 0.);
    for (int node = 0; node < A.n; ++node) {
      EXPECT_EQ(of_node[node] >= 0, !graph[node].empty()) << "node " << node;
      const bool has_company =
          std::any_of(graph[node].begin(), graph[node].end(),
                      [&](const int j) { return of_node[j] == of_node[node]; });
      EXPECT_TRUE(graph[node].empty() || has_company) << "node " << node << " is alone";
    }
    EXPECT_EQ(aggregates_of(A, 0.), of_node) << "a repeat differs";
  }
  EXPECT_TRUE(aggregates_of(laplacian_1d(0), 0.).empty());
  EXPECT_EQ(aggregates_of(arrow(200), 0.), std::vector<int>(200, 0));
}

TEST_P(MultigridTest, AggregatesAreThoseOfTheHost)
{
  const ExecutorPtr host = std::make_shared<HostExecutor>(1);
  const HostMatrix A = generate("anisotropic2d:200,0.3").A;
  const std::vector<int> of_node = aggregates_of(A, 0.1, 3);
  const ExecutorPtr given = std::exchange(executor, host);
  EXPECT_EQ(aggregates_of(A, 0.1, 3), of_node);
  executor = given;
}

TEST_P(MultigridTest, ProlongationIsOrthonormalAndHasTheMotionsOfEachAggregate)
{
  HostMatrix A;
  Unknowns unknowns;
  const std::vector<std::vector<double>> places = {
      {0., 0., 0.},                                             // one node
      {1., 0., 0.}, {1., 2., 1.},                               // two
      {0., 0., 3.}, {1., 0., 4.}, {2., 0., 5.}, {4., 0., 7.},   // on a line
      {5., 1., 1.}, {6., 1., 1.}, {5., 2., 1.},                 // in a plane
      {9., 9., 9.},                                             // in no aggregate
      {7., 1., 1.}, {8., 1., 1.}, {7., 2., 1.}, {7., 3.5, 2.}}; // in space
  const std::vector<int> of_node = {0, 1, 1, 2, 2, 2, 2, 3, 3, 3, -1, 4, 4, 4, 4};
  const std::vector<int> ranks = {3, 5, 5, 6, 6};
  for (const auto &place : places)
    for (int c = 0; c < 3; ++c) {
      const int row = A.n;
      if (row > 0)
        A.add(row - 1, -1.);
      A.add(row, 4.);
      if (row + 1 < static_cast<int>(3 * places.size()))
        A.add(row + 1, -1.);
      A.end_row();
      unknowns.coordinates.insert(unknowns.coordinates.end(), place.begin(), place.end());
    }
  unknowns.dimension = 3;
  A.unknowns = std::make_shared<const Unknowns>(unknowns);
  with_backend([&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const CsrMatrix matrix(executor, A.csr());
    const NearNullVectors B = near_null_vectors<Backend>(matrix, unknowns, 3, "auto");
    ASSERT_EQ(B.count, 6);
    const Aggregates aggregates{5, buffer(of_node)};
    const TentativeProlongation tentative =
        make_tentative<Backend>(executor, nodes(static_cast<int>(places.size()), 3), aggregates, B);
    const std::vector<int> starts = tentative.nodes.starts.to_host();
    for (std::size_t a = 0; a < ranks.size(); ++a)
      EXPECT_EQ(starts[a + 1] - starts[a], ranks[a]) << "aggregate " << a;
    const CsrMatrix &P = *tentative.P;
    const OnHost PtP(*Product<Backend>(*transposed<Backend>(P).matrix(), P).matrix());
    for (int i = 0; i < P.n_columns(); ++i)
      for (int k = PtP.row_starts[i]; k < PtP.row_starts[i + 1]; ++k)
        EXPECT_NEAR(PtP.values[k], PtP.columns[k] == i ? 1. : 0., 1e-13);
    const OnHost entries(P);
    const std::vector<double> of_level = B.values.to_host();
    const std::vector<double> of_next = tentative.near_null.values.to_host();
    for (int i = 0; i < A.n; ++i)
      for (int c = 0; c < 6; ++c) {
        double v = 0.;
        for (int k = entries.row_starts[i]; k < entries.row_starts[i + 1]; ++k)
          v += entries.values[k] * of_next[6 * entries.columns[k] + c];
        EXPECT_NEAR(v, of_node[i / 3] < 0 ? 0. : of_level[6 * i + c], 1e-13) << i << ", " << c;
      }
  });
}

TEST_P(MultigridTest, InvertsDenselyAndLeavesOutWhatIsSingular)
{
  for (const HostMatrix &A : {laplacian_1d(1), random_spd(33, 5, 1), random_dominant(100, 6, 2),
                              neumann_1d(31), neumann_1d(70), laplacian_1d(0)})
    with_backend([&](const auto on) {
      using Backend = typename decltype(on)::Backend;
      const CsrMatrix matrix(executor, A.csr());
      const DenseInverse<Backend> inverse(matrix);
      EXPECT_EQ(inverse.n_singular(), A.n == 31 || A.n == 70 ? 1 : 0);
      const std::vector<double> X = OnHost(inverse.matrix()).values;
      for (int j = 0; j < A.n; ++j) { // A X A = A
        std::vector<double> XA_j(static_cast<std::size_t>(A.n)), A_j = XA_j;
        for (int k = 0; k < A.n; ++k)
          for (int l = A.row_starts[k]; l < A.row_starts[k + 1]; ++l)
            if (A.columns[l] == j) {
              A_j[k] = A.values[l];
              for (int i = 0; i < A.n; ++i)
                XA_j[i] += X[i * A.n + k] * A.values[l];
            }
        EXPECT_LT(relative_difference(multiply(A, XA_j), A_j), 1e-12);
      }
    });
}

TEST_P(MultigridTest, CycleIsSymmetricAndLinearAndRefreshed)
{
  const HostMatrix A = generate("poisson2d-9pt:40").A;
  HostMatrix B = A;
  for (double &a : B.values)
    a *= 4.;
  const std::vector<double> u = random_vector(A.n, 1), v = random_vector(A.n, 2);
  for (const char *const text :
       {"multigrid", "multigrid cycle=W coarsest=20", "multigrid smoother=l1-jacobi degree=1",
        "multigrid smoother=block-jacobi", "multigrid smoother=fsai degree=3 coarsest=20",
        "multigrid degree=3 theta=0.2", "multigrid coarsest=1024", "multigrid theta=1"}) {
    SCOPED_TRACE(text);
    CsrMatrix matrix(executor, A.csr());
    const auto M = set_up(text, matrix);
    const std::vector<double> Mu = apply_to(*M, u), Mv = apply_to(*M, v);
    EXPECT_NEAR(dot(v, Mu), dot(u, Mv), 1e-12 * norm(u) * norm(Mv));
    EXPECT_GT(dot(u, Mu), 0.);
    EXPECT_TRUE(M->is_symmetric());
    matrix.update_values(B.values.data());
    M->update(matrix);
    std::vector<double> of_B = apply_to(*M, u);
    for (double &x : of_B)
      x *= 4.;
    EXPECT_LT(relative_difference(of_B, Mu), 1e-12);
    matrix.update_values(A.values.data());
    M->update(matrix);
    EXPECT_EQ(apply_to(*M, u), Mu) << "the same values make another cycle";
  }
}

/// Linear interpolation from every second of n points on a line, and so on down to 31 points.
/// @param units of the n unknowns
std::shared_ptr<const CoarserUnknowns> on_coarser_lines(const int n,
                                                        const std::vector<double> &units)
{
  if (n <= 31)
    return nullptr;
  auto result = std::make_shared<CoarserUnknowns>();
  HostProlongation &P = result->prolongation;
  P.n_columns = n / 2;
  for (int i = 0; i < n; ++i) {
    const int left = (i - 1) / 2, right = i / 2; // the same where i is on the coarser line
    for (int j = left; j <= right; ++j)
      if ((i > 0 || j == right) && j < P.n_columns) {
        P.columns.push_back(j);
        P.values.push_back((i % 2 == 1 ? 1. : 0.5) / units[i]);
      }
    P.row_starts.push_back(static_cast<int>(P.columns.size()));
  }
  result->unknowns.coarser = on_coarser_lines(P.n_columns, std::vector<double>(P.n_columns, 1.));
  return result;
}

TEST_P(MultigridTest, TakesProlongationsThatAreKnownInAnyUnits)
{
  HostMatrix A = laplacian_1d(1023);
  std::vector<double> units(static_cast<std::size_t>(A.n));
  for (int i = 0; i < A.n; ++i)
    units[i] = 1. + 10. * (i % 3);
  for (int i = 0; i < A.n; ++i)
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      A.values[k] *= units[i] * units[A.columns[k]];
  Unknowns unknowns;
  unknowns.coarser = on_coarser_lines(A.n, units);
  A.unknowns = std::make_shared<const Unknowns>(unknowns);
  const std::vector<double> b = random_vector(A.n, 5);
  for (const char *const scaling : {"none", "symmetric"})
    for (const bool takes_known : {true, false}) {
      SCOPED_TRACE(std::string(scaling) + (takes_known ? ", known" : ", aggregates"));
      LinearSolverOptions options;
      options.preconditioner =
          std::string("multigrid coarsest=40") + (takes_known ? "" : " coarsening=aggregation");
      options.scaling = scaling;
      LinearSolver solver(executor, options);
      for (const bool has_same_pattern : {false, true}) {
        solver.set_matrix(A.csr(), has_same_pattern);
        std::vector<double> x(b.size());
        const SolveReport report = solver.solve(b.data(), x.data());
        EXPECT_TRUE(report.converged()) << report.message;
        const std::string &remarks = report.method.setup.remarks;
        EXPECT_EQ(remarks.find("5 levels by given prolongations") != std::string::npos, takes_known)
            << remarks;
        EXPECT_LE(report.iterations, takes_known ? 12 : 40);
      }
    }
}

TEST_P(MultigridTest, RefusesProlongationsOfOtherSizes)
{
  HostMatrix A = laplacian_1d(500);
  Unknowns unknowns;
  unknowns.coarser = on_coarser_lines(501, std::vector<double>(501, 1.));
  A.unknowns = std::make_shared<const Unknowns>(unknowns);
  const std::string text =
      text_of<ParameterError>([&] { set_up("multigrid", CsrMatrix(executor, A.csr())); });
  EXPECT_NE(text.find("501 rows does not fit a matrix with 500"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(Backends, MultigridTest, backends(), backend_name);

class WithMultigrid : public OnBackendWithSolver
{
protected:
  int iterations(const std::string &problem, const std::string &preconditioner,
                 const std::string &scaling = "none") const
  {
    const ModelProblem model = generate(problem);
    SCOPED_TRACE(problem);
    return iterations(model.A, model.b, preconditioner, scaling);
  }
  int iterations(const HostMatrix &A, const std::vector<double> &b,
                 const std::string &preconditioner, const std::string &scaling = "none") const
  {
    LinearSolverOptions options = method(solver, preconditioner, 1e-8);
    options.scaling = scaling;
    const Solved solved = run(options, A, b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    return solved.report.iterations;
  }
};

enum class Sides
{
  dirichlet,
  neumann,
  periodic
};

/// -∇·(k ∇u) by finite volumes on N x N cells; @p conductance (direction, x, y) is that between a
/// cell and its next one.
template <class Conductance>
HostMatrix diffusion_2d(const int N, const Conductance &conductance, const Sides sides)
{
  std::vector<std::map<int, double>> rows(static_cast<std::size_t>(N) * N);
  const auto connect = [&](const int i, const int j, const double k) {
    rows[i][i] += k;
    rows[j][j] += k;
    rows[i][j] -= k;
    rows[j][i] -= k;
  };
  for (int y = 0; y < N; ++y)
    for (int x = 0; x < N; ++x) {
      const int i = y * N + x;
      for (const int d : {0, 1}) {
        const int at = d == 0 ? x : y, next = d == 0 ? y * N + (x + 1) % N : (y + 1) % N * N + x;
        const double k = conductance(d, x, y);
        if (at + 1 < N || sides == Sides::periodic)
          connect(i, next, k);
        if (sides == Sides::dirichlet && (at == 0 || at + 1 == N))
          rows[i][i] += 2. * k;
      }
    }
  HostMatrix A;
  for (const auto &row : rows) {
    for (const auto &[column, value] : row)
      A.add(column, value);
    A.end_row();
  }
  return A;
}

using MultigridCG = WithMultigrid;

TEST_P(MultigridCG, TakesIterationsThatHardlyGrow)
{
  const std::string multigrid = "multigrid coarsest=40"; // so that the small ones have levels too
  for (const auto &[coarse, fine] : {std::pair("poisson2d-p1:16", "poisson2d-p1:256"),
                                     std::pair("poisson2d-9pt:15", "poisson2d-9pt:240"),
                                     std::pair("poisson3d-7pt:8", "poisson3d-7pt:32"),
                                     std::pair("poisson3d-27pt:8", "poisson3d-27pt:32"),
                                     std::pair("anisotropic2d:20,0.001", "anisotropic2d:320,0.001"),
                                     std::pair("elasticity3d-p1:4", "elasticity3d-p1:10")})
    EXPECT_LE(iterations(fine, multigrid), 1.35 * iterations(coarse, multigrid) + 2) << fine;
}

TEST_P(MultigridCG, TakesFewerIterationsWithTheMotionsOfBodies)
{
  const std::string problem = "elasticity3d-p1:10";
  const int with_motions = iterations(problem, "multigrid");
  EXPECT_LT(with_motions, 0.8 * iterations(problem, "multigrid near-null=constants"));
  EXPECT_EQ(iterations(problem, "multigrid near-null=rigid-body block=3"), with_motions);
  EXPECT_NEAR(iterations(problem, "multigrid", "symmetric"), with_motions, 1);
}

TEST_P(MultigridCG, TakesFewIterationsForHardSystems)
{
  constexpr int N = 60;
  const auto one = [](int, int, int) { return 1.; };
  const auto k = [](const int x, const int y) { return (x / 13 + y / 13) % 2 == 0 ? 1. : 1e6; };
  const auto jumping = [&](const int d, const int x, const int y) {
    const double here = k(x, y), there = d == 0 ? k(x + 1, y) : k(x, y + 1);
    return 2. * here * there / (here + there);
  };
  const auto in_one_direction = [](const int d, int, int) { return d == 0 ? 1e-3 : 1.; };
  const auto size = [](const int x) { return std::pow(1000., static_cast<double>(x) / N); };
  const auto stretched = [&](const int d, const int x,
                             const int y) { // cells of 1 : 1000 in corners
    return d == 0 ? size(y) / (0.5 * (size(x) + size(x + 1)))
                  : size(x) / (0.5 * (size(y) + size(y + 1)));
  };
  const std::vector<double> b = random_vector(N * N, 1);
  std::vector<double> without_mean = b;
  for (double &v : without_mean)
    v -= std::accumulate(b.begin(), b.end(), 0.) / static_cast<double>(b.size());
  EXPECT_LE(iterations(diffusion_2d(N, one, Sides::neumann), without_mean, "multigrid"), 12);
  EXPECT_LE(iterations(diffusion_2d(N, one, Sides::periodic), without_mean, "multigrid"), 12);
  EXPECT_LE(iterations(diffusion_2d(N, jumping, Sides::dirichlet), b, "multigrid"), 24);
  EXPECT_LE(iterations(diffusion_2d(N, in_one_direction, Sides::dirichlet), b, "multigrid"), 15);
  EXPECT_LE(iterations(diffusion_2d(N, stretched, Sides::dirichlet), b, "multigrid"), 22);
}

TEST_P(MultigridCG, SlowsDownWhereMaterialIsNearlyIncompressible)
{
  const int N = 6;
  const HostMatrix A = elasticity_matrix(N, 1., 0.499);
  EXPECT_LT(iterations(A, elasticity_load(N), "multigrid"),
            0.25 * iterations(A, elasticity_load(N), "jacobi"));
}

TEST_P(MultigridCG, TakesFewerIterationsWithSmoothersThatKnowMoreOfA)
{
  for (const char *const problem : {"elasticity3d-p1:8", "anisotropic2d:60,0.01"}) {
    const int with_diagonal = iterations(problem, "multigrid");
    EXPECT_LE(iterations(problem, "multigrid smoother=block-jacobi"), with_diagonal) << problem;
    EXPECT_LT(iterations(problem, "multigrid smoother=fsai"), with_diagonal) << problem;
    EXPECT_GT(iterations(problem, "multigrid smoother=l1-jacobi"), with_diagonal) << problem;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, MultigridCG,
                         testing::Combine(backends(), testing::Values(std::string("pipelined-cg"))),
                         words);

using MultigridOfAll = WithMultigrid;

TEST_P(MultigridOfAll, SolvesAllSizesAndRepeats)
{
  for (const HostMatrix &A :
       {laplacian_1d(1), laplacian_1d(31), laplacian_1d(32), laplacian_1d(33), laplacian_2d(40, 30),
        box_27(9, 10, 11), random_spd(2000, 8, 3), diagonal({1., 2., 3., 4.}), arrow(500)}) {
    const std::vector<double> x = random_vector(A.n, 1), b = multiply(A, x);
    const LinearSolverOptions options = method(solver, "multigrid coarsest=16", 1e-12);
    const Solved solved = run(options, A, b);
    EXPECT_TRUE(solved.report.converged()) << A.n << " rows: " << solved.report.message;
    EXPECT_LT(relative_difference(solved.x, x), 1e-8);
    EXPECT_EQ(run(options, A, b).x, solved.x) << "a repeat differs";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Backends, MultigridOfAll,
    testing::Combine(backends(), testing::Values(std::string("pipelined-cg"), std::string("minres"),
                                                 std::string("gmres"), std::string("idr"))),
    words);

using UnsymmetricMultigrid = WithMultigrid;

TEST_P(UnsymmetricMultigrid, SolvesConvectionByPlainAggregates)
{
  EXPECT_LT(iterations("convection-diffusion2d:60,20", "multigrid cycle=W"),
            0.5 * iterations("convection-diffusion2d:60,20", "jacobi"));
  EXPECT_LT(iterations("convection-diffusion3d:20,1", "multigrid"),
            0.7 * iterations("convection-diffusion3d:20,1", "jacobi"));
}

TEST_P(UnsymmetricMultigrid, SmoothsByAnInverseThatIsNotSymmetric)
{
  const std::string sai = "multigrid smoother=sai coarsest=40";
  for (const char *const problem : {"poisson2d-9pt:40", "convection-diffusion2d:60,5"})
    EXPECT_LT(iterations(problem, sai),
              iterations(problem, "multigrid smoother=l1-jacobi coarsest=40"))
        << problem;
}

INSTANTIATE_TEST_SUITE_P(Backends, UnsymmetricMultigrid,
                         testing::Combine(backends(), testing::Values(std::string("bicgstab"),
                                                                      std::string("gmres"))),
                         words);

TEST(Multigrid, NamesWhatItCannotDo)
{
  const ExecutorPtr host = std::make_shared<HostExecutor>(1);
  const auto set_up = [&](const std::string &text, const HostMatrix &A) {
    const CsrMatrix matrix(host, A.csr());
    make_preconditioner(text, BackendKind::host)->setup(matrix);
  };
  const HostMatrix A = laplacian_1d(100);
  EXPECT_NE(text_of<ParameterError>([&] { set_up("multigrid block=3", A); }).find("block=1"),
            std::string::npos);
  EXPECT_NE(text_of<ParameterError>([&] {
              set_up("multigrid near-null=rigid-body", A);
            }).find("near-null=constants"),
            std::string::npos);
  EXPECT_NE(text_of<SolverError>([&] {
              set_up("multigrid", diagonal({1., -2., 0.}));
            }).find("2 of 3 rows have no positive number"),
            std::string::npos);
  EXPECT_THROW(set_up("multigrid cycle=F", A), ParameterError);
  EXPECT_NE(text_of<ParameterError>([&] { set_up("multigrid smoother=ilu", A); }).find("fsai"),
            std::string::npos);
  EXPECT_NE(text_of<ParameterError>([&] {
              LinearSolver(host, method("cg", "multigrid smoother=sai"));
            }).find("needs a symmetric preconditioner"),
            std::string::npos);
  EXPECT_NE(
      text_of<SolverError>([&] {
        solve_in_parts(method("cg", "multigrid"), A, random_vector(A.n, 1), {}, {0, 30, A.n}, true);
      }).find("all rows in one part"),
      std::string::npos);
}
} // namespace
} // namespace femgpu::linalg::test
