#include "linalg/execution/make_executor.h"
#include "linalg/matrices/registry.h"
#include "tests/linalg/powers_checks.h"

#include <memory>

namespace femgpu::linalg::test
{
namespace
{
/// Tests the matrix powers kernel with the rows of each subdomain in a separate thread.
class PartsOfPowers : public OnBackend
{
protected:
  /// Computes the basis with distributed rows.
  /// @param m inverse diagonal of the Jacobi preconditioner; empty without a preconditioner
  Vectors compute_on_ranks(const HostMatrix &A, const MatrixPowersOptions &options,
                           const std::vector<BasisStep> &steps, const std::vector<double> &m = {})
  {
    const std::vector<int> starts = uneven(A);
    const std::vector<LocalMatrix> matrices = cut_matrix(A, starts);
    const std::vector<double> v = random_vector(A.n, 3);
    Vectors V(steps.size() + 1, v);
    run_on_ranks(static_cast<int>(matrices.size()), [&](const int rank, const auto &communicator) {
      const LocalMatrix &mine = matrices[static_cast<std::size_t>(rank)];
      const ExecutorPtr own = make_executor(GetParam());
      const auto range = std::make_shared<RowSpace>(own, mine.rows.n, communicator);
      const CsrMatrix csr(range, std::make_shared<RowSpace>(*range, mine.ghosts), mine.rows.csr());
      const auto matrix = make_format("sell slice=32 max-padding=1000000", csr);
      const Buffer<double> inverse(own, m.data() + (m.empty() ? 0 : mine.begin),
                                   m.empty() ? 0 : static_cast<std::size_t>(mine.rows.n));
      const DiagonalView M =
          m.empty() ? DiagonalView{nullptr, 1.} : DiagonalView{inverse.data(), 0.};
      const auto powers = make_matrix_powers(*matrix, M, options);
      if (rank == 0)
        description = powers->description();
      const std::size_t stride = powers->space()->n_with_ghosts();
      const auto n = static_cast<std::size_t>(mine.rows.n);
      Buffer<double> memory(own, (steps.size() + 1) * stride);
      memory.fill_zero();
      own->copy_from_host(memory.data(), v.data() + mine.begin, n * sizeof(double));
      powers->compute({memory.data(), stride, static_cast<int>(steps.size()) + 1}, steps);
      const std::vector<double> host = memory.to_host();
      for (std::size_t c = 0; c < V.size(); ++c)
        std::copy_n(host.begin() + static_cast<std::ptrdiff_t>(c * stride), n,
                    V[c].begin() + mine.begin);
    });
    return V;
  }

  /// Computes the basis with all rows in one subdomain.
  Vectors run_on_one_rank(const HostMatrix &A, const std::vector<BasisStep> &steps,
                          const MatrixPowersOptions &options = plain())
  {
    const CsrMatrix csr(executor, A.csr());
    const auto matrix = make_format("sell slice=32 max-padding=1000000", csr);
    const auto n = static_cast<std::size_t>(A.n);
    Buffer<double> memory(executor, (steps.size() + 1) * n);
    const std::vector<double> v = random_vector(A.n, 3);
    executor->copy_from_host(memory.data(), v.data(), n * sizeof(double));
    make_matrix_powers(*matrix, DiagonalView{nullptr, 1.}, options)
        ->compute({memory.data(), n, static_cast<int>(steps.size()) + 1}, steps);
    const std::vector<double> host = memory.to_host();
    Vectors V;
    for (std::size_t c = 0; c <= steps.size(); ++c)
      V.emplace_back(host.begin() + static_cast<std::ptrdiff_t>(c * n),
                     host.begin() + static_cast<std::ptrdiff_t>((c + 1) * n));
    return V;
  }

  std::string description;
};

MatrixPowersOptions exchanging(const int depth)
{
  MatrixPowersOptions options = plain();
  options.depth = depth;
  return options;
}

TEST_P(PartsOfPowers, HaveTheBitsOfOnePartWhereGhostsComeOnceASweep)
{
  for (const auto &[name, A] : examples())
    for (const auto &steps : {monomial_steps(7), newton_steps(10)}) {
      const Vectors expected = run_on_one_rank(A, steps);
      std::vector<MatrixPowersOptions> forms = all_forms(A);
      forms.push_back(exchanging(2));
      forms.push_back(exchanging(5));
      for (const MatrixPowersOptions &options : forms) {
        if (name == "empty rows" && options.kind == PowersKind::blocked)
          continue; // rows with random columns have too many neighbours for cache blocks
        const Vectors V = compute_on_ranks(A, options, steps);
        SCOPED_TRACE(name + ", " + description);
        expect_same(V, expected);
      }
    }
}

TEST_P(PartsOfPowers, AddLongRowsAsOnePartDoes)
{
  const HostMatrix A = band(3000, 40);
  const std::size_t bytes = 12 * A.columns.size();
  const Vectors expected = run_on_one_rank(A, newton_steps(7), streamed(bytes / 2, 3));
  expect_near(expected, reference(A, random_vector(A.n, 3), {}, newton_steps(7)), 81);
  for (const MatrixPowersOptions &options : {streamed(bytes / 3, 4), exchanging(3)}) {
    const Vectors V = compute_on_ranks(A, options, newton_steps(7));
    SCOPED_TRACE(description);
    expect_same(V, expected);
  }
}

TEST_P(PartsOfPowers, ArePlainWithAnExchangeForEachStep)
{
  for (const auto &[name, A] : examples()) {
    SCOPED_TRACE(name);
    expect_near(compute_on_ranks(A, plain(), newton_steps(7)), run_on_one_rank(A, newton_steps(7)),
                longest_row(A));
  }
}

TEST_P(PartsOfPowers, ScaleTheColumnsOfGhosts)
{
  const HostMatrix A = laplacian_2d(20, 100);
  std::vector<double> m = random_vector(A.n, 4);
  for (double &m_i : m)
    m_i = 1. + 0.5 * m_i;
  const Vectors expected = reference(A, random_vector(A.n, 3), m, newton_steps(8));
  std::vector<MatrixPowersOptions> forms = all_forms(A);
  forms.push_back(plain());
  forms.push_back(exchanging(4));
  for (const MatrixPowersOptions &options : forms) {
    const Vectors V = compute_on_ranks(A, options, newton_steps(8), m);
    SCOPED_TRACE(description);
    expect_near(V, expected, 5);
  }
}

TEST_P(PartsOfPowers, ChooseTheSameForm)
{
  const HostMatrix A = band(30000, 3);
  const Vectors expected = run_on_one_rank(A, newton_steps(10));
  expect_near(compute_on_ranks(A, {}, newton_steps(10)), expected, 7);
  EXPECT_NE(description.find(" plain x 10 "), std::string::npos) << description;
  MatrixPowersOptions options;
  for (const PowersKind kind : {PowersKind::blocked, PowersKind::streamed}) {
    options.kind = kind;
    expect_same(compute_on_ranks(A, options, newton_steps(10)), expected);
    EXPECT_EQ(description.rfind(to_string(kind), 0), 0U) << description;
  }
}

TEST_P(PartsOfPowers, AreRefusedTogether)
{
  const HostMatrix A = laplacian_1d(5000);
  const std::string text =
      text_of<SolverError>([&] { compute_on_ranks(A, blocked(2, 8), monomial_steps(8)); });
  EXPECT_NE(text.find("cannot be computed in cache blocks"), std::string::npos) << text;
  EXPECT_THROW(compute_on_ranks(random_dominant(20000, 5, 1), blocked(0, 0), monomial_steps(8)),
               SolverError);
  EXPECT_NO_THROW(compute_on_ranks(random_dominant(20000, 5, 1), {}, monomial_steps(8)));
}

TEST_P(PartsOfPowers, MakeTheBasisOfCaGmres)
{
  const ModelProblem problem = generate("convection-diffusion2d:60,2");
  const auto solve = [&](const std::string &with) {
    const SolvedOnRanks solved =
        solve_on_ranks(method("ca-gmres restart=30 s=6 " + with, "jacobi"), problem.A, problem.b,
                       {}, uneven(problem.A), GetParam());
    EXPECT_LE(residual_norm(problem.A, problem.b, solved.x), 1.01 * solved.reports[0].target)
        << with;
    return solved.reports[0];
  };
  const SolveReport plain = solve("powers=plain");
  const auto expect_as_many = [&](const SolveReport &report) {
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_LE(std::abs(report.iterations - plain.iterations), 2) << report.method.execution;
    EXPECT_EQ(report.restarts, plain.restarts);
  };
  for (const char *const powers : {"powers=auto", "powers=plain depth=3", "powers=blocked",
                                   "powers=blocked depth=2 block=300", "powers=streamed"})
    expect_as_many(solve(powers));
  for (const char *const tsqr : {"mgs", "cgs", "svqr", "caqr"})
    expect_as_many(solve(std::string("borth=mgs errors=yes tsqr=") + tsqr));
}

INSTANTIATE_TEST_SUITE_P(Backends, PartsOfPowers, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
