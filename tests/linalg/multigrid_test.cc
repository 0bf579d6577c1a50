#include "linalg/execution/backends.h"
#include "linalg/execution/host/executor.h"
#include "linalg/linear_solver.h"
#include "linalg/preconditioners/multigrid/prolongation.h"
#include "linalg/preconditioners/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
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

  /// Returns the nodes of n rows, where each node has @p block rows.
  Nodes nodes(const int n, const int block) const
  {
    std::vector<int> starts, node_of_row;
    for (int node = 0; node <= n; ++node)
      starts.push_back(node * block);
    for (int i = 0; i < n * block; ++i)
      node_of_row.push_back(i / block);
    return {buffer(starts), buffer(node_of_row)};
  }

  template <class Function>
  void with_backend(const Function &f) const
  {
    on_backend(executor->backend(), f);
  }

  /// Returns the strong connections of each node.
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

  /// Returns the aggregate of each node.
  std::vector<int> aggregates_of(const HostMatrix &A, const double theta,
                                 const int min_neighbours = 2) const
  {
    std::vector<int> result;
    with_backend([&](const auto on) {
      using Backend = typename decltype(on)::Backend;
      const RowPattern graph = make_graph<Backend>(A, 1, theta);
      const Aggregates aggregates =
          Aggregation<Backend>(executor, graph, graph.n(), 0).aggregates(min_neighbours);
      result = aggregates.aggregate_of_node.to_host();
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

/// A matrix of any shape in host memory.
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
  const double s = 1e3;                                // unit of unknown 1
  const HostMatrix A = dense({{4., -1. * s, 0., -.39}, //
                              {-1. * s, 4. * s * s, -.41 * s, 0.},
                              {0., -.41 * s, 4., 0.},
                              {-.39, 0., 0., 4.}});
  using Graph = std::vector<std::vector<int>>;
  EXPECT_EQ(graph_of(A, 1, 0.1), (Graph{{1}, {0, 2}, {1}, {}}));
  EXPECT_EQ(graph_of(A, 1, 0.09), (Graph{{1, 3}, {0, 2}, {1}, {0}}));
  EXPECT_EQ(graph_of(A, 1, 0.25), (Graph{{1}, {0}, {}, {}})); // equality counts as strong
  EXPECT_EQ(graph_of(A, 2, 0.1), (Graph{{1}, {0}}));
  EXPECT_EQ(graph_of(A, 2, 0.2), (Graph{{}, {}}));
}

TEST_P(MultigridTest, EveryConnectedNodeIsInOneAggregateWithNeighbours)
{
  HostMatrix with_isolated_node = laplacian_2d(30, 20);
  with_isolated_node.add(with_isolated_node.n, 1.);
  with_isolated_node.end_row();
  with_isolated_node.unknowns = default_unknowns;
  for (const HostMatrix &A :
       {laplacian_1d(1), laplacian_1d(2), laplacian_1d(33), with_isolated_node, box_27(7, 8, 9),
        random_spd(3000, 6, 3), arrow(200)}) {
    SCOPED_TRACE(A.n);
    const std::vector<int> aggregate_of_node = aggregates_of(A, 0.);
    const std::vector<std::vector<int>> graph = graph_of(A, 1, 0.);
    for (int node = 0; node < A.n; ++node) {
      EXPECT_EQ(aggregate_of_node[node] >= 0, !graph[node].empty()) << "node " << node;
      const bool shares_aggregate =
          std::any_of(graph[node].begin(), graph[node].end(),
                      [&](const int j) { return aggregate_of_node[j] == aggregate_of_node[node]; });
      EXPECT_TRUE(graph[node].empty() || shares_aggregate) << "node " << node << " is alone";
    }
    EXPECT_EQ(aggregates_of(A, 0.), aggregate_of_node) << "a repeat differs";
  }
  EXPECT_TRUE(aggregates_of(laplacian_1d(0), 0.).empty());
  EXPECT_EQ(aggregates_of(arrow(200), 0.), std::vector<int>(200, 0));
}

TEST_P(MultigridTest, AggregatesAreThoseOfTheHost)
{
  const ExecutorPtr host = std::make_shared<HostExecutor>(1);
  const HostMatrix A = generate("anisotropic2d:200,0.3").A;
  const std::vector<int> aggregate_of_node = aggregates_of(A, 0.1, 3);
  const ExecutorPtr original = std::exchange(executor, host);
  EXPECT_EQ(aggregates_of(A, 0.1, 3), aggregate_of_node);
  executor = original;
}

TEST_P(MultigridTest, ProlongationIsOrthonormalAndHasTheMotionsOfEachAggregate)
{
  HostMatrix A;
  Unknowns unknowns;
  const std::vector<std::vector<double>> points = {
      {0., 0., 0.},                                             // an aggregate of one node
      {1., 0., 0.}, {1., 2., 1.},                               // two nodes
      {0., 0., 3.}, {1., 0., 4.}, {2., 0., 5.}, {4., 0., 7.},   // nodes on a line
      {5., 1., 1.}, {6., 1., 1.}, {5., 2., 1.},                 // nodes in a plane
      {9., 9., 9.},                                             // in no aggregate
      {7., 1., 1.}, {8., 1., 1.}, {7., 2., 1.}, {7., 3.5, 2.}}; // in space
  const std::vector<int> aggregate_of_node = {0, 1, 1, 2, 2, 2, 2, 3, 3, 3, -1, 4, 4, 4, 4};
  const std::vector<int> ranks = {3, 5, 5, 6, 6};
  for (const auto &point : points)
    for (int c = 0; c < 3; ++c) {
      const int row = A.n;
      if (row > 0)
        A.add(row - 1, -1.);
      A.add(row, 4.);
      if (row + 1 < static_cast<int>(3 * points.size()))
        A.add(row + 1, -1.);
      A.end_row();
      unknowns.coordinates.insert(unknowns.coordinates.end(), point.begin(), point.end());
    }
  unknowns.dimension = 3;
  A.unknowns = std::make_shared<const Unknowns>(unknowns);
  with_backend([&](const auto on) {
    using Backend = typename decltype(on)::Backend;
    const CsrMatrix matrix(executor, A.csr());
    const NearNullVectors B = near_null_vectors<Backend>(matrix, unknowns, 3, "auto");
    ASSERT_EQ(B.count, 6);
    const Aggregates aggregates{5, buffer(aggregate_of_node),
                                sorted_nodes<Backend>(executor, 5, buffer(aggregate_of_node))};
    const TentativeProlongation tentative = make_tentative<Backend>(
        matrix.range(), nodes(static_cast<int>(points.size()), 3), aggregates, B);
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
        EXPECT_NEAR(v, aggregate_of_node[i / 3] < 0 ? 0. : of_level[6 * i + c], 1e-13)
            << i << ", " << c;
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

/// Returns a hierarchy of coarser unknowns: linear interpolation from every second of n points on a
/// line, repeated until at most 31 points remain.
/// @param units units of the n unknowns
std::shared_ptr<const CoarserUnknowns> on_coarser_lines(const int n,
                                                        const std::vector<double> &units)
{
  if (n <= 31)
    return nullptr;
  auto result = std::make_shared<CoarserUnknowns>();
  HostProlongation &P = result->prolongation;
  P.n_columns = n / 2;
  for (int i = 0; i < n; ++i) {
    const int left = (i - 1) / 2, right = i / 2; // equal if point i belongs to the coarser line
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
    for (const bool uses_known : {true, false}) {
      SCOPED_TRACE(std::string(scaling) + (uses_known ? ", known" : ", aggregates"));
      LinearSolverOptions options;
      options.preconditioner =
          std::string("multigrid coarsest=40") + (uses_known ? "" : " coarsening=aggregation");
      options.scaling = scaling;
      LinearSolver solver(executor, options);
      for (const bool has_same_pattern : {false, true}) {
        solver.set_matrix(A.csr(), has_same_pattern);
        std::vector<double> x(b.size());
        const SolveReport report = solver.solve(b.data(), x.data());
        EXPECT_TRUE(report.converged()) << report.message;
        const std::string &remarks = report.method.setup.remarks;
        EXPECT_EQ(remarks.find("5 levels by given prolongations") != std::string::npos, uses_known)
            << remarks;
        EXPECT_LE(report.iterations, uses_known ? 12 : 40);
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
} // namespace
} // namespace femgpu::linalg::test
