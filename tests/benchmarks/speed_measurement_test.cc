#include "benchmarks/speed/measurement.h"
#include "benchmarks/speed/systems.h"
#include "linalg/base/error.h"
#include "linalg/execution/make_executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

using namespace femgpu;
using namespace femgpu::linalg;
using namespace femgpu::linalg::benchmark;

namespace
{
SpeedSystem small_system()
{
  return make_system({"p2d", "poisson2d-p1:32", 961});
}

/// Corrupts the solution and the reported result of a candidate.
using Corruption = std::function<void(std::vector<double> &x, ReportedResult &reported)>;

/// A candidate that runs femgpu on the host and corrupts each result.
class CorruptedCandidate final : public Candidate
{
public:
  CorruptedCandidate(std::unique_ptr<Candidate> inner, Corruption corrupt)
      : inner(std::move(inner)), corrupt(std::move(corrupt))
  {}
  void reset() override
  {
    inner->reset();
  }
  ReportedResult solve(const int iterations) override
  {
    ReportedResult reported = inner->solve(iterations);
    x = inner->solution();
    corrupt(x, reported);
    return reported;
  }
  std::vector<double> solution() const override
  {
    return x;
  }

private:
  std::unique_ptr<Candidate> inner;
  Corruption corrupt;
  std::vector<double> x;
};

/// Measures femgpu's pipelined CG on the host with corrupted results.
Measurement measure_corrupted(const Corruption &corrupt)
{
  const SpeedSystem system = small_system();
  const CsrMatrix A(make_executor("host"), system.A.csr());
  CandidateSpecs specs;
  add_femgpu(specs, A, system.b, {"cg"}, {"csr"}, {"auto"});
  CandidateSpec spec = specs.front();
  const auto make = spec.make;
  spec.make = [&] { return std::make_unique<CorruptedCandidate>(make(), corrupt); };
  return measure(spec, system, 60, 3);
}

bool begins_with(const std::string &text, const std::string &begin)
{
  return text.rfind(begin, 0) == 0;
}
} // namespace

TEST(SpeedSystems, HaveTheOrdersOfTheTable)
{
  for (const TableSystem &line : choose_systems({}, 0, 400000))
    EXPECT_EQ(make_system(line).A.n, line.n) << line.generator;
  EXPECT_THROW(make_system({"p2d", "poisson2d-p1:16", 226}), SolverError);
}

TEST(SpeedSystems, AreChosenByFamilyAndOrder)
{
  EXPECT_EQ(table_systems().size(), 20U);
  EXPECT_EQ(choose_systems({"p2d", "e3d"}, 0, 1000).size(), 3U);
  EXPECT_EQ(choose_systems({"q1"}, 0, 1000).size(), 0U);
  EXPECT_EQ(choose_systems({"p2d"}, 900, 5000).size(), 2U);
  EXPECT_THROW(choose_systems({"q2"}, 0, 1000), ParameterError);
}

TEST(SpeedSystems, FloorCountsTheMatrixOnceAnd72BytesARow)
{
  HostMatrix A; // 2 x 2, 3 entries
  A.add(0, 1.);
  A.end_row();
  A.add(0, 1.);
  A.add(1, 1.);
  A.end_row();
  EXPECT_EQ(floor_bytes(A), 3 * 12U + 3 * 4U + 2 * 72U);
  EXPECT_EQ(gmres_floor_bytes(A), 3 * 12U + 3 * 4U + 2 * 37U * 8U);
  const auto microseconds = [](const TableSystem &line) { // at 3 TB/s
    return static_cast<double>(floor_bytes(make_system(line).A)) / 3e6;
  };
  EXPECT_NEAR(microseconds({"p2d", "poisson2d-p1:1024", 1046529}), 55.8, 0.1);
  EXPECT_NEAR(microseconds({"e3d", "elasticity3d-p1:47", 324864}), 47.7, 0.1);
  EXPECT_NEAR(microseconds({"fd3", "poisson3d-7pt:96", 884736}), 47.0, 0.1);
}

TEST(SpeedSystems, AreScaledByTheirDiagonalOnBothSides)
{
  SpeedSystem system; // A = (4, 6; 6, 16)
  for (const int i : {0, 1}) {
    system.A.add(0, i == 0 ? 4. : 6.);
    system.A.add(1, i == 0 ? 6. : 16.);
    system.A.end_row();
  }
  system.b = {8., 8.};
  const ScaledSystem scaled(system);
  EXPECT_EQ(scaled.inverse_roots, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(scaled.values, (std::vector<double>{1., 0.75, 0.75, 1.}));
  EXPECT_EQ(scaled.b, (std::vector<double>{4., 2.}));
}

TEST(SpeedMeasurement, OfFemgpuIsOk)
{
  const SpeedSystem system = small_system();
  const CsrMatrix A(make_executor("host"), system.A.csr());
  CandidateSpecs specs;
  add_femgpu(specs, A, system.b, {"cg", "bicgstab"}, {"csr", "sell"}, {"auto", "graph"});
  ASSERT_EQ(specs.size(), 8U);
  EXPECT_EQ(specs[1].variant, "csr, graph");
  for (const CandidateSpec &spec : specs) {
    const Measurement m = measure(spec, system, 60, 3);
    EXPECT_EQ(m.verdict, "ok") << spec.solver;
    EXPECT_TRUE(m.is_reproducible);
    EXPECT_EQ(m.n_solves, 3);
    EXPECT_TRUE(m.iterations == 60 || m.iterations == 30);
    EXPECT_GT(m.minimum, 0.);
    EXPECT_LE(m.minimum, m.median);
    EXPECT_LE(m.median, m.maximum);
    EXPECT_LT(m.true_residual, 1.);
    EXPECT_GT(m.milliseconds_30, 0.);
  }
}

TEST(SpeedMeasurement, OfGmresIsOkWhereFemgpuHasIt)
{
  const SpeedSystem system = make_system({"p2d", "poisson2d-p1:64", 3969});
  const CsrMatrix A(make_executor("host"), system.A.csr());
  CandidateSpecs specs;
  add_femgpu(specs, A, system.b, {"gmres", "sor"}, {"csr"}, {"auto"});
  if (specs.empty())
    GTEST_SKIP() << "there is no pipelined-gmres";
  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(specs[0].solver, "pipelined-gmres(30)");
  EXPECT_EQ(specs[0].preconditioner, "identity");
  const Measurement m = measure(specs[0], system, 60, 3);
  EXPECT_EQ(m.verdict, "ok");
  EXPECT_EQ(m.iterations, 60);
  EXPECT_TRUE(m.is_reproducible);
}

TEST(SpeedMeasurement, SolversAreFormsOfMethods)
{
  EXPECT_EQ(method_of("cg"), "cg");
  EXPECT_EQ(method_of("chronopoulos-gear-cg"), "cg");
  EXPECT_EQ(method_of("pipelined-bicgstab"), "bicgstab");
  EXPECT_EQ(method_of("pipelined-gmres(30)"), "gmres");
  for (const std::string &method : methods())
    EXPECT_EQ(method_of("pipelined-" + method), method);
}

TEST(SpeedMeasurement, OfLongSolvesTimesFewerIterationsAfterAFailure)
{
  const Measurement m = measure_corrupted([](std::vector<double> &, ReportedResult &reported) {
    if (reported.iterations > 30)
      reported.relative_residual = NAN;
  });
  EXPECT_EQ(m.verdict, "ok");
  EXPECT_EQ(m.iterations, 30);
}

TEST(SpeedMeasurement, FindsOutAProgramThatSaysAnotherResidual)
{
  const auto misreported = [](const double factor) {
    return measure_corrupted([&](std::vector<double> &, ReportedResult &reported) {
             reported.relative_residual *= factor;
           })
        .verdict;
  };
  EXPECT_EQ(misreported(1.), "ok");
  EXPECT_PRED2(begins_with, misreported(0.9), "wrong: reports the residual");
  EXPECT_PRED2(begins_with, misreported(NAN), "wrong");
}

TEST(SpeedMeasurement, FindsOutAWrongSolution)
{
  const Measurement m =
      measure_corrupted([](std::vector<double> &x, ReportedResult &) { x[100] = NAN; });
  EXPECT_PRED2(begins_with, m.verdict, "wrong");
  EXPECT_EQ(m.n_solves, 0);
}

TEST(SpeedMeasurement, FindsOutFewerIterations)
{
  const Measurement m = measure_corrupted(
      [](std::vector<double> &, ReportedResult &reported) { --reported.iterations; });
  EXPECT_PRED2(begins_with, m.verdict, "wrong: did 29 of 30 iterations");
}

TEST(SpeedMeasurement, FindsOutResidualsThatAreNotThoseOfTheFirst)
{
  Measurement m;
  m.true_residual_30 = 0.1;
  compare_residuals(m, 0.10001);
  EXPECT_EQ(m.verdict, "ok");
  compare_residuals(m, 0.11);
  EXPECT_PRED2(begins_with, m.verdict, "wrong");
}

TEST(SpeedMeasurement, TellsWhetherSolvesRepeatToTheBit)
{
  int solves = 0;
  const Measurement m = measure_corrupted([&](std::vector<double> &x, ReportedResult &) {
    x[0] *= ++solves % 2 == 0 ? 1. : 1. + 1e-15;
  });
  EXPECT_EQ(m.verdict, "ok");
  EXPECT_FALSE(m.is_reproducible);
}

TEST(SpeedMeasurement, KeepsTheMessageOfWhatFails)
{
  CandidateSpec spec;
  spec.make = []() -> std::unique_ptr<Candidate> { throw std::runtime_error("no \"memory\""); };
  const SpeedSystem system = small_system();
  const Measurement m = measure(spec, system, 60, 3);
  EXPECT_EQ(m.verdict, "failed: no \"memory\"");
  const std::string line = csv_line({"device", "abc", 1e12}, system, spec, m);
  EXPECT_NE(line.find("\"failed: no 'memory'\""), std::string::npos);
}

TEST(SpeedMeasurement, LinesHaveTheColumnsOfTheHeader)
{
  const auto commas = [](const std::string &text) {
    return std::count(text.begin(), text.end(), ',');
  };
  Measurement m;
  const SpeedSystem system = small_system();
  EXPECT_EQ(commas(csv_line({"device", "abc", 1e12}, system, {}, m)), commas(csv_header));
  m.n_solves = 10;
  EXPECT_EQ(commas(csv_line({"device", "abc", 1e12}, system, {}, m)), commas(csv_header));
}

TEST(SpeedMeasurement, ResidualNormsWeighByTheDiagonal)
{
  SpeedSystem system; // with A = diag(4, 1)
  system.A.add(0, 4.);
  system.A.end_row();
  system.A.add(1, 1.);
  system.A.end_row();
  system.b = {8., 0.};
  const std::vector<double> x = {2., 1.}; // b − A x = (0, −1)
  EXPECT_DOUBLE_EQ(relative_residual(system, x, ResidualNorm::euclidean), 1. / 8.);
  EXPECT_DOUBLE_EQ(relative_residual(system, x, ResidualNorm::scaled), 1. / 4.);
  EXPECT_DOUBLE_EQ(relative_residual(system, x, ResidualNorm::preconditioned), 1. / 2.);
}
