#include "linalg/execution/host/executor.h"
#include "linalg/linear_solver.h"
#include "linalg/partitions/partition.h"
#include "linalg/preconditioners/registry.h"
#include "solve/generators/elasticity.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <array>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace femgpu::linalg::test
{
namespace
{
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
                 const std::string &preconditioner, const std::string &scaling = "none",
                 const std::string &ordering = "none") const
  {
    LinearSolverOptions options = method(solver, preconditioner, 1e-8);
    options.scaling = scaling;
    options.ordering = ordering;
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

/// Discretises -∇·(k ∇u) by finite volumes on N x N cells.
/// @param conductance function of (direction, x, y): the conductance between cell (x, y) and the
///        next cell in this direction
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
  const std::string multigrid = "multigrid coarsest=40"; // small systems have several levels, too
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

/// Returns @p given, unknowns in 3D with coordinates, with the 6 rigid-body modes as near-null
/// vectors in place of the coordinates.
UnknownsPtr with_rigid_body_modes(const Unknowns &given)
{
  Unknowns result;
  result.per_node = 3;
  result.n_near_null = 6;
  for (std::size_t i = 0; 3 * i < given.coordinates.size(); ++i) {
    const double *const x = given.coordinates.data() + 3 * i;
    const std::array<std::array<double, 6>, 3> modes = {{{1., 0., 0., 0., x[2], -x[1]},
                                                         {0., 1., 0., -x[2], 0., x[0]},
                                                         {0., 0., 1., x[1], -x[0], 0.}}};
    result.near_null.insert(result.near_null.end(), modes[i % 3].begin(), modes[i % 3].end());
  }
  return std::make_shared<const Unknowns>(std::move(result));
}

TEST_P(MultigridCG, TakesTheSameIterationsIfTheMotionsOfBodiesAreGivenAsVectors)
{
  const ModelProblem model = generate("elasticity3d-p1:10");
  HostMatrix A = model.A;
  A.unknowns = with_rigid_body_modes(*model.A.unknowns);
  for (const char *const scaling : {"none", "symmetric"})
    for (const char *const ordering : {"none", have_metis() ? "kway parts=4" : "none"})
      EXPECT_EQ(iterations(A, model.b, "multigrid", scaling, ordering),
                iterations(model.A, model.b, "multigrid near-null=rigid-body", scaling, ordering))
          << scaling << ", " << ordering;
  EXPECT_GT(iterations(A, model.b, "multigrid near-null=constants"),
            iterations(A, model.b, "multigrid"));
}

TEST_P(MultigridCG, TakesFewIterationsForHardSystems)
{
  constexpr int N = 60;
  const auto one = [](int, int, int) { return 1.; };
  const auto k = [](const int x, const int y) { return (x / 13 + y / 13) % 2 == 0 ? 1. : 1e6; };
  const auto jumping = [&](const int d, const int x, const int y) {
    const double k_here = k(x, y), k_there = d == 0 ? k(x + 1, y) : k(x, y + 1);
    return 2. * k_here * k_there / (k_here + k_there);
  };
  const auto in_one_direction = [](const int d, int, int) { return d == 0 ? 1e-3 : 1.; };
  const auto size = [](const int x) { return std::pow(1000., static_cast<double>(x) / N); };
  const auto stretched = [&](const int d, const int x,
                             const int y) { // aspect ratios of 1 : 1000 in corners
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

TEST_P(MultigridCG, TakesAsManyIterationsWithProductsInFloat)
{
  constexpr int N = 60;
  const auto jumping = [](int, const int x, const int y) { return x / 13 == y / 13 ? 1e6 : 1.; };
  const auto stretched = [](const int d, int, int) { return d == 0 ? 1e-4 : 1.; };
  for (const HostMatrix &A : {diffusion_2d(N, jumping, Sides::dirichlet),
                              diffusion_2d(N, stretched, Sides::dirichlet), laplacian_1d(3000)}) {
    const std::vector<double> b = random_vector(A.n, 1);
    const int in_double = iterations(A, b, "multigrid values=double");
    EXPECT_LE(iterations(A, b, "multigrid values=float"), 1.1 * in_double);
  }
}

TEST_P(MultigridCG, StaysInDoubleWhereFloatHasNoSuchNumbers)
{
  const HostMatrix A = laplacian_2d(40, 30);
  const std::vector<double> b = random_vector(A.n, 1);
  for (const double unit : {1e-60, 1e-35, 1., 1e60}) {
    HostMatrix scaled = A;
    for (double &value : scaled.values)
      value *= unit;
    const Solved solved = run(method(solver, "multigrid coarsest=40", 1e-8), scaled, b);
    EXPECT_TRUE(solved.report.converged()) << solved.report.message;
    const std::string &remarks = solved.report.method.setup.remarks;
    EXPECT_EQ(remarks.find("values outside the range of float") == std::string::npos, unit == 1.)
        << remarks;
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
  HostMatrix B = A;
  Unknowns unknowns;
  unknowns.n_near_null = 17;
  unknowns.near_null.assign(1700, 1.);
  B.unknowns = std::make_shared<const Unknowns>(unknowns);
  EXPECT_NE(text_of<ParameterError>([&] { set_up("multigrid", B); }).find("at most 16"),
            std::string::npos);
  unknowns.near_null.pop_back();
  B.unknowns = std::make_shared<const Unknowns>(unknowns);
  EXPECT_NE(text_of<InputError>([&] { set_up("multigrid", B); }).find("each row needs 17"),
            std::string::npos);
  EXPECT_NE(text_of<SolverError>([&] {
              set_up("multigrid", diagonal({1., -2., 0.}));
            }).find("2 of 3 rows have no positive diagonal entry"),
            std::string::npos);
  EXPECT_THROW(set_up("multigrid cycle=F", A), ParameterError);
  EXPECT_NE(text_of<ParameterError>([&] { set_up("multigrid smoother=ilu", A); }).find("fsai"),
            std::string::npos);
  EXPECT_NE(text_of<ParameterError>([&] {
              LinearSolver(host, method("cg", "multigrid smoother=sai"));
            }).find("needs a symmetric preconditioner"),
            std::string::npos);
}
} // namespace
} // namespace femgpu::linalg::test
