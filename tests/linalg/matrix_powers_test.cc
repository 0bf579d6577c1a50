#include "linalg/matrices/registry.h"
#include "linalg/powers/cache_blocks.h"
#include "linalg/powers/row_block_passes.h"
#include "linalg/transformations/reordering.h"
#include "solve/generators/registry.h"
#include "tests/linalg/powers_checks.h"

namespace femgpu::linalg::test
{
namespace
{
class MatrixPowersTest : public OnBackend
{
protected:
  /// Returns v and a basis vector for each of @p steps, computed in columns whose stride exceeds
  /// their length.
  Vectors run(const MatrixPowers &powers, const std::vector<double> &v,
              const std::vector<BasisStep> &steps) const
  {
    const std::size_t n = v.size(), stride = n + 5;
    std::vector<double> host((steps.size() + 1) * stride, -7.);
    std::copy(v.begin(), v.end(), host.begin());
    Buffer<double> memory(executor, host.data(), host.size());
    powers.compute({memory.data(), stride, static_cast<int>(steps.size()) + 1}, steps);
    executor->synchronize();
    memory.copy_to_host(host.data());
    Vectors V;
    for (std::size_t c = 0; c <= steps.size(); ++c) {
      const auto begin = host.begin() + static_cast<std::ptrdiff_t>(c * stride);
      V.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(std::vector<double>(begin + static_cast<std::ptrdiff_t>(n),
                                    begin + static_cast<std::ptrdiff_t>(stride)),
                std::vector<double>(5, -7.))
          << "something was written between the vectors";
    }
    return V;
  }

  Vectors run(const HostMatrix &A, const MatrixPowersOptions &options,
              const std::vector<BasisStep> &steps, const DiagonalView &m = {nullptr, 1.},
              const std::string &format = "sell slice=32 max-padding=1000000")
  {
    const CsrMatrix csr(executor, A.csr());
    const auto matrix = make_format(format, csr);
    const auto powers = make_matrix_powers(*matrix, m, options);
    description = powers->description();
    return run(*powers, random_vector(A.n, 3), steps);
  }

  std::string description;
};

TEST_P(MatrixPowersTest, EveryFormAgreesWithAReference)
{
  for (const auto &[name, A] : examples()) {
    SCOPED_TRACE(name);
    const std::vector<double> v = random_vector(A.n, 3);
    for (const auto &steps : {monomial_steps(7), newton_steps(10), newton_steps(1)}) {
      const Vectors expected = reference(A, v, {}, steps);
      for (const char *const format : {"csr", "sell max-padding=1000", "coo"})
        expect_near(run(A, plain(), steps, {nullptr, 1.}, format), expected, longest_row(A));
    }
  }
}

TEST_P(MatrixPowersTest, AllFormsAgreeToTheLastBit)
{
  for (const auto &[name, A] : examples())
    for (const auto &steps : {monomial_steps(7), newton_steps(10)}) {
      const Vectors expected = run(A, plain(), steps);
      for (const MatrixPowersOptions &options : all_forms(A)) {
        // Rows with random columns have too many neighbours for cache blocks.
        if (name == "empty rows" && options.kind == PowersKind::blocked)
          continue;
        const Vectors V = run(A, options, steps);
        SCOPED_TRACE(name + ", " + description);
        expect_same(V, expected);
      }
    }
}

TEST_P(MatrixPowersTest, SizesAreAwkward)
{
  for (const int n : {0, 1, 31, 32, 33, 5000}) {
    const HostMatrix A = laplacian_1d(n);
    const Vectors expected = run(A, plain(), newton_steps(6));
    expect_near(expected, reference(A, random_vector(n, 3), {}, newton_steps(6)), 3);
    MatrixPowersOptions automatic;
    for (const MatrixPowersOptions &options :
         {blocked(32, 3), blocked(3000, 3), blocked(4999, 6), blocked(100000, 2),
          streamed(1 << 20, 4), automatic}) {
      const Vectors V = run(A, options, newton_steps(6));
      SCOPED_TRACE(std::to_string(n) + ", " + description);
      expect_same(V, expected);
    }
  }
}

TEST_P(MatrixPowersTest, DiagonalPreconditionersScaleTheColumns)
{
  const HostMatrix A = laplacian_2d(20, 100);
  const std::vector<double> v = random_vector(A.n, 3);
  std::vector<double> m = random_vector(A.n, 4);
  for (double &m_i : m)
    m_i = 1. + 0.5 * m_i;
  const Buffer<double> inverse(executor, m.data(), m.size());
  const Vectors expected = reference(A, v, m, newton_steps(8));
  const std::vector<double> quarters(m.size(), 0.25);
  const Vectors expected_uniform = reference(A, v, quarters, newton_steps(8));
  std::vector<MatrixPowersOptions> forms = all_forms(A);
  forms.push_back(plain());
  for (const MatrixPowersOptions &options : forms) {
    expect_near(run(A, options, newton_steps(8), {inverse.data(), 0.}), expected, 5);
    expect_near(run(A, options, newton_steps(8), {nullptr, 0.25}), expected_uniform, 5);
    SCOPED_TRACE(description);
  }
}

TEST_P(MatrixPowersTest, TuningChoosesAFormThatIsRight)
{
  const HostMatrix A = band(30000, 3);
  const Vectors expected = run(A, plain(), newton_steps(10));
  MatrixPowersOptions options;
  expect_same(run(A, options, newton_steps(10)), expected);
  EXPECT_NE(description.find("chosen by microseconds per step: plain "), std::string::npos)
      << description;
  options.kind = PowersKind::blocked;
  expect_same(run(A, options, newton_steps(10)), expected);
  EXPECT_EQ(description.rfind("blocked: ", 0), 0U) << description;
  options.kind = PowersKind::streamed;
  expect_same(run(A, options, newton_steps(10)), expected);
  EXPECT_EQ(description.rfind("streamed: ", 0), 0U) << description;
}

TEST_P(MatrixPowersTest, BlocksMayBeThePartsOfAnOrder)
{
  HostMatrix A = band(8000, 3);
  Unknowns unknowns;
  unknowns.part_starts = {0, 700, 1000, 2500, 4000, 5000, 6400, 7000, 8000};
  A.unknowns = std::make_shared<const Unknowns>(std::move(unknowns));
  const Vectors expected = run(A, plain(), newton_steps(10));
  for (const int depth : {0, 4}) {
    expect_same(run(A, blocked(0, depth), newton_steps(10)), expected);
    EXPECT_EQ(description.find("parts x 6 "), std::string::npos)
        << "saves no sweep: " << description;
  }
  EXPECT_NE(description.find("parts x 4 "), std::string::npos) << description;
  run(A, blocked(500, 0), newton_steps(10));
  EXPECT_EQ(description.find("parts"), std::string::npos) << description;
}

TEST_P(MatrixPowersTest, StreamedMatricesKeepToTheMemoryGranted)
{
  const HostMatrix A = band(20000, 4);
  const CsrMatrix csr(executor, A.csr());
  for (const std::size_t memory : {std::size_t(200'000), std::size_t(1'000'000)})
    for (const int depth : {0, 1, 5, 20}) {
      MatrixPowersOptions options = streamed(memory, depth);
      options.steps = 20;
      const auto powers = make_matrix_powers(csr, DiagonalView(), options);
      SCOPED_TRACE(powers->description());
      EXPECT_LE(powers->bytes(), memory);
      const std::size_t entries = 12 * A.columns.size();
      EXPECT_GE(powers->traffic(depth), depth > 0 ? entries : 0);
      EXPECT_LE(powers->traffic(depth), 2 * entries); // few rows are read twice
      if (depth == 0) {
        EXPECT_LE(powers->traffic(20), 2 * entries);
      }
    }
}

TEST_P(MatrixPowersTest, AStreamedMatrixNeedNotFitIntoTheMemory)
{
  const HostMatrix A = band(20000, 4);
  const std::vector<double> v = random_vector(A.n, 3), m(v.size(), 0.5);
  const auto powers = make_streamed_powers(executor, A.csr(), m.data(), streamed(300'000, 6));
  const Vectors V = run(*powers, v, newton_steps(12));
  expect_near(V, reference(A, v, m, newton_steps(12)), 9);
  expect_same(run(*powers, v, newton_steps(12)), V);
}

TEST_P(MatrixPowersTest, TooLittleMemoryIsAnErrorThatTellsWhatIsNeeded)
{
  const HostMatrix A = random_dominant(3000, 5, 1);
  const std::string text =
      text_of<DeviceError>([&] { run(A, streamed(20'000, 4), monomial_steps(4)); });
  EXPECT_NE(text.find("two blocks"), std::string::npos) << text;
  EXPECT_NE(text.find("20000 are granted"), std::string::npos) << text;
  EXPECT_THROW(run(A, streamed(100, 1), monomial_steps(4)), DeviceError);
}

TEST_P(MatrixPowersTest, BlocksWithTooManyNeighboursAreRefused)
{
  const HostMatrix A = random_dominant(20000, 5, 1);
  const std::string scratch =
      text_of<SolverError>([&] { run(A, blocked(1000, 8), monomial_steps(8)); });
  EXPECT_NE(scratch.find("scratch"), std::string::npos) << scratch;
  const std::string work =
      text_of<SolverError>([&] { run(laplacian_1d(5000), blocked(2, 8), monomial_steps(8)); });
  EXPECT_NE(work.find("rows per needed row, more than 3"), std::string::npos) << work;
  MatrixPowersOptions tuned = blocked(0, 0);
  EXPECT_THROW(run(A, tuned, monomial_steps(8)), SolverError);
  tuned.kind = PowersKind::automatic;
  run(A, tuned, monomial_steps(8));
  EXPECT_EQ(description.rfind("plain", 0), 0U) << description;
}

TEST_P(MatrixPowersTest, WrongArgumentsAreErrors)
{
  const HostMatrix A = laplacian_1d(10);
  const CsrMatrix csr(executor, A.csr());
  const auto powers = make_matrix_powers(csr, DiagonalView(), plain());
  Buffer<double> V(executor, 40);
  V.fill_zero();
  EXPECT_THROW(powers->compute({V.data(), 10, 4}, monomial_steps(4)), ParameterError);
  EXPECT_THROW(powers->compute({V.data(), 10, 4}, {BasisStep{0., 1., 1.}}), ParameterError);
  EXPECT_NO_THROW(powers->compute({V.data(), 10, 4}, monomial_steps(3)));
  EXPECT_THROW(run(A, blocked(8, 33), monomial_steps(3)), ParameterError);
  EXPECT_THROW(run(A, blocked(-1, 3), monomial_steps(3)), ParameterError);
  EXPECT_THROW(powers_kind_of("fast"), ParameterError);
  EXPECT_EQ(powers_kind_of("streamed"), PowersKind::streamed);
}

TEST(MatrixPowersPlanTest, SweepsAreOfNearlyEqualLength)
{
  EXPECT_EQ(sweeps_of(10, 4), (std::vector<int>{4, 3, 3}));
  EXPECT_EQ(sweeps_of(15, 5), (std::vector<int>{5, 5, 5}));
  EXPECT_EQ(sweeps_of(2, 5), (std::vector<int>{2}));
  EXPECT_TRUE(sweeps_of(0, 5).empty());
}

TEST(MatrixPowersPlanTest, BlocksOfALineHaveTheNeighboursOfTheirEnds)
{
  const HostMatrix A = laplacian_1d(10);
  const CacheBlocks blocks = make_cache_blocks(ScaledMatrix(A.csr()), {0, 4, 10}, 2, 0, {100});
  EXPECT_EQ(blocks.obstacle, "");
  EXPECT_EQ(blocks.blocks[0].counts, (std::vector<int>{4, 5, 6}));
  EXPECT_EQ(blocks.blocks[1].counts, (std::vector<int>{6, 7, 8}));
  EXPECT_EQ(blocks.blocks[0].others, (std::vector<int>{4, 5}));
  EXPECT_EQ(blocks.blocks[1].others, (std::vector<int>{3, 2}));
  EXPECT_EQ(blocks.max_rows, 7);
  EXPECT_EQ(blocks.max_scratch, 15);
  EXPECT_DOUBLE_EQ(blocks.work, 22. / 20.);
}

TEST(MatrixPowersPlanTest, VisitsTakeLaterRowsAsFarAsTheyNeed)
{
  const HostMatrix A = laplacian_1d(1000);
  const RowBlockPasses plan = plan_passes_within(ScaledMatrix(A.csr()), 3, 20'000, 0);
  ASSERT_GE(plan.passes.size(), 2U);
  const RowBlockPass &first = plan.passes[0], &second = plan.passes[1];
  EXPECT_EQ(first.others, (std::vector<int>{first.end, first.end + 1}));
  EXPECT_EQ(first.to[first.end], 2);     // needed for step 3 of the last own row
  EXPECT_EQ(first.to[first.end + 1], 1); // needed for step 2 of row first.end
  EXPECT_EQ(second.from[0], 3);
  EXPECT_EQ(second.from[1], 2);
  EXPECT_EQ(second.from[2], 1);
}

/// Simulates the passes over the row blocks. Checks that every step of every row occurs exactly
/// once, after the neighbours of the row have finished the previous step.
void expect_complete(const HostMatrix &A, const RowBlockPasses &plan)
{
  std::vector<int> done(static_cast<std::size_t>(A.n), 0);
  for (const RowBlockPass &pass : plan.passes)
    for (int step = 1; step <= plan.depth; ++step) {
      std::vector<int> now = done;
      for (int l = 0; l < pass.n_rows(); ++l) {
        if (step < pass.from[l] || step > pass.to[l])
          continue;
        const int i = pass.row(l);
        ASSERT_EQ(done[i], step - 1);
        for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
          ASSERT_GE(done[A.columns[k]], step - 1) << "row " << i << ", step " << step;
        now[i] = step;
      }
      done = now;
    }
  EXPECT_EQ(done, std::vector<int>(done.size(), plan.depth));
}

TEST(MatrixPowersPlanTest, VisitsComputeEveryStepOfEveryRowOnce)
{
  for (const HostMatrix &A : {laplacian_2d(30, 40), box_27(5, 5, 20), with_empty_rows(2000),
                              convection_diffusion(20, 50, 1., 1.)})
    for (const int depth : {1, 2, 5}) {
      const RowBlockPasses plan =
          plan_passes_within(ScaledMatrix(A.csr()), depth, 45'000 + 400 * depth * depth, 3);
      EXPECT_GE(plan.passes.size(), 2U);
      expect_complete(A, plan);
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, MatrixPowersTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
