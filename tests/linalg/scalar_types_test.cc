#include "linalg/base/scalar_types.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg::test
{
namespace
{
/// Returns @p x rounded to 8 binary digits, ties to even, and to multiples of 2^-133.
double reference_bfloat16(const double x)
{
  if (x == 0. || !std::isfinite(x))
    return x;
  const int exponent = std::max(std::ilogb(x), -126) - 7;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -exponent)), exponent);
  return std::abs(rounded) < 0x1p128 ? rounded : std::copysign(HUGE_VAL, x);
}

double as_bfloat16(const double x)
{
  return static_cast<double>(BFloat16(x));
}

TEST(BFloat16Test, RoundsToNearestAndTiesToEven)
{
  EXPECT_EQ(as_bfloat16(1. + 0x1p-8), 1.);
  EXPECT_EQ(as_bfloat16(1. + 0x1p-7 + 0x1p-8), 1. + 0x1p-6);
  EXPECT_EQ(as_bfloat16(1. + 0x1p-8 + 0x1p-50), 1. + 0x1p-7); // double rounding would give 1
  EXPECT_EQ(as_bfloat16(-1. - 0x1.8p-8), -1. - 0x1p-7);
  EXPECT_EQ(as_bfloat16(0x1.fffp3), 16.);
  const std::vector<double> digits = random_vector(1000, 3);
  for (int exponent = -150; exponent < 130; ++exponent)
    for (const double m : digits) {
      const double x = std::ldexp(m, exponent);
      ASSERT_EQ(as_bfloat16(x), reference_bfloat16(x)) << x;
    }
}

TEST(BFloat16Test, HasSubnormalNumbersInfinityAndNaN)
{
  EXPECT_EQ(as_bfloat16(0x1p-133), 0x1p-133);
  EXPECT_EQ(as_bfloat16(0x1p-134), 0.);
  EXPECT_EQ(as_bfloat16(0x1.0001p-134), 0x1p-133);
  EXPECT_EQ(as_bfloat16(0x1.ffp-127), 0x1p-126); // rounds up to the least normal number
  EXPECT_EQ(as_bfloat16(5e-324), 0.);
  EXPECT_TRUE(std::signbit(as_bfloat16(-0.)));
  EXPECT_EQ(as_bfloat16(0x1.fep127), 0x1.fep127);
  EXPECT_EQ(as_bfloat16(0x1.ff8p127), HUGE_VAL);
  EXPECT_EQ(as_bfloat16(-1e300), -HUGE_VAL);
  EXPECT_EQ(as_bfloat16(HUGE_VAL), HUGE_VAL);
  EXPECT_TRUE(std::isnan(as_bfloat16(NAN)));
}

class FactorValuesTest : public OnBackend
{
protected:
  /// Returns M⁻¹r.
  std::vector<double> applied(const std::string &text, const HostMatrix &A,
                              const std::vector<double> &r)
  {
    const auto M = make_preconditioner(text, executor->backend());
    const CsrMatrix B(executor, A.csr());
    M->setup(B);
    Buffer<double> from(executor, r.data(), r.size()), to(executor, r.size());
    apply(*M, *executor, from, to);
    return to.to_host();
  }
};

TEST_P(FactorValuesTest, AreRoundedToTheSameBitsOnEveryBackend)
{
  std::vector<double> entries = random_vector(1000, 7);
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i] = std::ldexp(1. + std::abs(entries[i]), static_cast<int>(i) % 200 - 100);
  const HostMatrix A = diagonal(entries);
  const std::vector<double> ones(entries.size(), 1.), exact = applied("sai", A, ones);
  const std::vector<double> as_float = applied("sai values=float", A, ones);
  const std::vector<double> as_short = applied("sai values=bfloat16", A, ones);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_EQ(as_float[i], static_cast<double>(static_cast<float>(exact[i])));
    EXPECT_EQ(as_short[i], reference_bfloat16(exact[i]));
  }
}

TEST_P(FactorValuesTest, KeepTheIterationsAndTakeFewerBytes)
{
  const ModelProblem spd = generate("poisson2d-5pt:40");
  const ModelProblem general = generate("convection-diffusion2d:24,5");
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"pipelined-cg", "fsai"},
      {"cg", "sainv"},
      {"bicgstab", "ainv"},
      {"bicgstab", "sai"},
      {"gmres restart=200", "sai side=left"}};
  for (const auto &pair : pairs) {
    const std::string &solver = pair.first, &preconditioner = pair.second;
    const ModelProblem &problem = solver[0] == 'b' || solver[0] == 'g' ? general : spd;
    const auto solved = [&](const std::string &values) {
      SCOPED_TRACE(solver + ", " + preconditioner + values);
      const Solved result =
          solve(executor, method(solver, preconditioner + values, 1e-9), problem.A, problem.b);
      EXPECT_TRUE(result.report.converged()) << result.report.message;
      EXPECT_EQ(result.report.restarts, 0);
      EXPECT_LE(residual_norm(problem.A, problem.b, result.x), 1.01e-9 * norm(problem.b));
      return result.report.iterations;
    };
    const int exact = solved("");
    EXPECT_NEAR(solved(" values=float"), exact, 2 + 0.1 * exact);
    EXPECT_NEAR(solved(" values=bfloat16"), exact, 2 + 0.25 * exact);

    const auto bytes = [&](const std::string &values) {
      const auto M = make_preconditioner(preconditioner + values, executor->backend());
      M->setup(CsrMatrix(executor, problem.A.csr()));
      return M->bytes();
    };
    EXPECT_LT(bytes(" values=bfloat16"), bytes(" values=float"));
  }
}

TEST_P(FactorValuesTest, RowsThatATypeCannotHoldAreRefused)
{
  for (const char *const preconditioner : {"sai", "fsai", "ainv scaling=none"})
    for (const char *const values : {"float", "bfloat16"})
      for (const double entry : {1e90, 1e-90}) {
        const std::string name = preconditioner + (std::string(" values=") + values);
        const std::string text = text_of<SolverError>([&] {
          applied(name, diagonal({1., 2., entry, 4.}), {1., 1., 1., 1.});
        });
        EXPECT_NE(text.find(std::string("values=") + values), std::string::npos) << text;
        EXPECT_NE(text.find("of row 2 of a factor"), std::string::npos) << text;
        EXPECT_NE(text.find("Use values=double"), std::string::npos) << text;
      }
}

TEST_P(FactorValuesTest, TypesThatAMethodCannotStoreAreErrorsThatNameOthers)
{
  const auto text = [&](const std::string &name) {
    return text_of<ParameterError>([&] { make_preconditioner(name, executor->backend()); });
  };
  EXPECT_NE(text("fsai values=half").find("double, float or bfloat16"), std::string::npos);
  EXPECT_NE(text("block-jacobi values=float").find("use block"), std::string::npos);
  EXPECT_NE(text("ilu values=float").find("no option 'values'; use "), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, FactorValuesTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
