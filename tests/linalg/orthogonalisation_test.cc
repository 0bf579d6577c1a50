#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "linalg/orthogonalisation/orthogonalisation.h"
#include "tests/linalg/on_backend.h"
#include "tests/linalg/tall_matrices.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace femgpu::linalg::test
{
namespace
{
const std::vector<std::string> variants = {"mgs", "cgs", "cholqr", "svqr", "caqr"};

bool same_bits(const std::vector<double> &a, const std::vector<double> &b)
{
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// The factors V = Q R computed by a method.
struct Factors
{
  TsqrReport report;
  TallMatrix Q, R;

  double error(const TallMatrix &V) const
  {
    return distance(V, product(Q, R)) / frobenius_norm(V);
  }
};

Factors factorise(const ExecutorPtr &executor, const std::string &method, const TallMatrix &V)
{
  ExecutorBlock block(executor, V);
  const auto p = static_cast<std::size_t>(V.p);
  Buffer<double> R(executor, p * p);
  Factors factors{make_tsqr(method, executor)->factorise(V.n, block.view(), R.data()),
                  block.to_host(), TallMatrix(V.p, V.p)};
  factors.R.values = R.to_host();
  if (factors.report.is_done) {
    EXPECT_TRUE(same_bits(factors.R.values, factors.report.R));
  }
  return factors;
}

void expect_triangle(const TallMatrix &R)
{
  for (int c = 0; c < R.p; ++c) {
    EXPECT_GE(R(c, c), 0.);
    for (int i = c + 1; i < R.p; ++i)
      EXPECT_EQ(R(i, c), 0.) << i << ", " << c;
  }
}

class Orthogonalisation : public OnBackend
{};

TallMatrix rows_of(const TallMatrix &V, const int begin, const int end)
{
  TallMatrix result(end - begin, V.p);
  for (int c = 0; c < V.p; ++c)
    for (int i = begin; i < end; ++i)
      result(i - begin, c) = V(i, c);
  return result;
}

void set_rows(TallMatrix &V, const int begin, const TallMatrix &rows)
{
  for (int c = 0; c < V.p; ++c)
    for (int i = 0; i < rows.n; ++i)
      V(begin + i, c) = rows(i, c);
}

ExecutorPtr new_executor(const ExecutorPtr &executor)
{
  return make_executor(executor->backend() == BackendKind::host ? "host" : "cuda");
}

/// Returns the starts of subdomains, of which some have fewer rows than columns and one has none.
std::vector<int> starts_of_ranks(const int n)
{
  return {0, 3, 3, n / 3, n};
}

/// Factorises with the rows of each subdomain in a separate thread.
std::vector<Factors> factorise_on_ranks(const ExecutorPtr &executor, const std::string &method,
                                        const TallMatrix &V)
{
  const std::vector<int> starts = starts_of_ranks(V.n);
  const auto p = static_cast<std::size_t>(V.p);
  TallMatrix Q(V.n, V.p);
  std::vector<Factors> factors(starts.size() - 1, {{}, Q, TallMatrix(V.p, V.p)});
  run_on_ranks(static_cast<int>(factors.size()), [&](const int rank, const auto &communicator) {
    const ExecutorPtr own = new_executor(executor);
    ExecutorBlock block(own, rows_of(V, starts[rank], starts[rank + 1]));
    Buffer<double> R(own, p * p);
    Factors &mine = factors[static_cast<std::size_t>(rank)];
    mine.report =
        make_tsqr(method, own, communicator.get())->factorise(block.n, block.view(), R.data());
    mine.R.values = R.to_host();
    set_rows(Q, starts[rank], block.to_host());
  });
  for (Factors &of_rank : factors)
    of_rank.Q = Q;
  return factors;
}

TEST_P(Orthogonalisation, FactorsOfASmallMatrixAreThoseByHand)
{
  TallMatrix V(3, 2); // columns (3, 0, 4) and (5, 3, 0)
  V(0, 0) = 3.;
  V(2, 0) = 4.;
  V(0, 1) = 5.;
  V(1, 1) = 3.;
  for (const std::string &variant : variants)
    for (const char *const passes : {"", " passes=2"}) {
      const Factors f = factorise(executor, variant + passes, V);
      EXPECT_TRUE(f.report.ok()) << f.report.variant;
      EXPECT_EQ(f.report.variant, variant);
      EXPECT_NEAR(f.R(0, 0), 5., 20. * eps) << variant;
      EXPECT_NEAR(f.R(0, 1), 3., 20. * eps) << variant;
      EXPECT_NEAR(f.R(1, 1), 5., 20. * eps) << variant;
      EXPECT_NEAR(f.Q(0, 0), .6, 5. * eps) << variant;
      EXPECT_NEAR(f.Q(2, 0), .8, 5. * eps) << variant;
      EXPECT_NEAR(f.Q(0, 1), .64, 10. * eps) << variant; // (5 - 3 · 0.6) / 5
      EXPECT_NEAR(f.Q(1, 1), .6, 10. * eps) << variant;
      EXPECT_NEAR(f.Q(2, 1), -.48, 10. * eps) << variant;
      expect_triangle(f.R);
    }
}

TEST_P(Orthogonalisation, WellConditionedBlocksOfAllSizesAreFactorised)
{
  for (const auto &[n, p] : std::vector<std::pair<int, int>>{{1, 1},
                                                             {31, 1},
                                                             {31, 7},
                                                             {32, 32},
                                                             {33, 8},
                                                             {33, 9},
                                                             {255, 16},
                                                             {256, 17},
                                                             {257, 24},
                                                             {513, 25},
                                                             {1025, 3},
                                                             {2049, 6},
                                                             {5000, 21},
                                                             {5000, 32},
                                                             {100007, 11}}) {
    const TallMatrix V = block_of_condition(n, p, 10., 1);
    for (const std::string &variant : variants) {
      const Factors f = factorise(executor, variant, V);
      EXPECT_TRUE(f.report.ok()) << f.report.variant;
      EXPECT_EQ(f.report.variant, variant);
      EXPECT_LT(orthogonality_error_of(f.Q), 1000. * p * eps) << variant << n << ", " << p;
      EXPECT_LT(f.error(V), 10. * p * eps) << variant << n << ", " << p;
      expect_triangle(f.R);
    }
  }
}

TEST_P(Orthogonalisation, ErrorsStayBelowTheBoundsOfTheTheory)
{
  const int n = 5000, p = 8;
  for (const double kappa : {1., 1e2, 1e4, 1e6}) {
    const TallMatrix V = block_of_condition(n, p, kappa, 3);
    const auto error = [&](const std::string &method) {
      const Factors f = factorise(executor, method, V);
      EXPECT_TRUE(f.report.ok()) << f.report.variant;
      EXPECT_LT(f.error(V), 10. * p * eps) << method << ", " << kappa;
      return orthogonality_error_of(f.Q);
    };
    EXPECT_LT(error("mgs"), 10. * p * eps * kappa) << kappa;
    EXPECT_LT(error("cgs"), 10. * p * eps * std::pow(kappa, p - 1)) << kappa;
    EXPECT_LT(error("cholqr"), 10. * p * eps * kappa * kappa) << kappa;
    EXPECT_LT(error("svqr"), 10. * p * eps * kappa * kappa) << kappa;
    EXPECT_LT(error("caqr"), 10. * p * eps) << kappa;
    for (const std::string &variant : variants)
      EXPECT_LT(error(variant + " passes=2"), 10. * p * eps) << variant << ", " << kappa;
  }
}

TEST_P(Orthogonalisation, ErrorsGrowAsTheTheorySays)
{
  const TallMatrix V = block_of_condition(5000, 8, 1e6, 3);
  const auto error = [&](const std::string &method) {
    return orthogonality_error_of(factorise(executor, method, V).Q);
  };
  const double of_mgs = error("mgs");
  EXPECT_GT(of_mgs, 1e3 * eps);
  EXPECT_GT(error("cholqr"), 1e3 * of_mgs);
  EXPECT_GT(error("svqr"), 1e3 * of_mgs);
  EXPECT_GT(error("cgs"), 1e3 * of_mgs);
}

TEST_P(Orthogonalisation, FailingCholeskyIsDetectedAndTheBlockIsLeftAsItWas)
{
  const TallMatrix V = block_of_condition(5000, 12, 1e11, 4);
  const Factors f = factorise(executor, "cholqr safer=no", V);
  EXPECT_FALSE(f.report.is_done);
  EXPECT_FALSE(f.report.ok());
  EXPECT_GT(f.report.failed_column, 0);
  EXPECT_LT(f.report.failed_column, 12);
  EXPECT_TRUE(same_bits(f.Q.values, V.values));
}

TEST_P(Orthogonalisation, FailingCholeskyIsRepeatedWithASaferVariant)
{
  const int p = 12;
  for (const double kappa : {1e10, 1e11, 1e13}) {
    const TallMatrix V = block_of_condition(5000, p, kappa, 4);
    for (const char *const method : {"cholqr", "cholqr passes=2", "svqr", "svqr passes=2"}) {
      const Factors f = factorise(executor, method, V);
      EXPECT_TRUE(f.report.ok()) << f.report.variant;
      if (method[0] == 'c') {
        EXPECT_GT(f.report.failed_column, 0) << method << kappa;
        EXPECT_NE(f.report.variant, "cholqr") << method << kappa;
      }
      const bool is_exact = std::string(method).size() > 6 || f.report.variant == "caqr";
      EXPECT_LT(orthogonality_error_of(f.Q), is_exact ? 10. * p * eps : 1.)
          << method << kappa << f.report.variant;
      EXPECT_LT(f.error(V), 10. * p * eps) << method << kappa;
    }
  }
}

TEST_P(Orthogonalisation, DependentAndZeroColumnsAreFoundAndCounted)
{
  const int n = 1000, p = 9;
  TallMatrix V = block_of_condition(n, p, 100., 5);
  for (int i = 0; i < n; ++i) {
    V(i, 4) = V(i, 1) - 2. * V(i, 3);
    V(i, 7) = 0.;
  }
  for (const std::string &variant : variants)
    for (const char *const passes : {"", " passes=2"}) {
      const Factors f = factorise(executor, variant + passes, V);
      EXPECT_FALSE(f.report.ok());
      EXPECT_TRUE(f.report.is_done) << variant << passes;
      EXPECT_EQ(f.report.rank, p - 2) << variant << passes;
      EXPECT_EQ(f.report.first_dependent, 4) << variant << passes;
      EXPECT_LT(f.error(V), 10. * p * eps) << variant << passes;
      const bool leaves_zeros = variant == "mgs" || variant == "cgs";
      EXPECT_NEAR(orthogonality_error_of(f.Q), leaves_zeros ? std::sqrt(2.) : 0., 1e-10)
          << variant << passes << f.report.variant;
      expect_triangle(f.R);
    }
}

TEST_P(Orthogonalisation, ZeroBlocksHaveRankZero)
{
  const TallMatrix V(100, 3);
  for (const std::string &variant : variants) {
    const Factors f = factorise(executor, variant, V);
    EXPECT_TRUE(f.report.is_done) << variant;
    EXPECT_EQ(f.report.rank, 0) << variant;
    EXPECT_EQ(f.report.first_dependent, 0) << variant;
    EXPECT_EQ(frobenius_norm(f.R), 0.) << variant;
  }
}

TEST_P(Orthogonalisation, FewerRowsThanColumnsLeaveARankOfAsManyRows)
{
  const TallMatrix V = random_block(3, 5, 6);
  for (const std::string &variant : variants) {
    const Factors f = factorise(executor, variant, V);
    EXPECT_TRUE(f.report.is_done) << variant;
    EXPECT_EQ(f.report.rank, 3) << variant << f.report.variant;
    EXPECT_LT(f.error(V), 50. * eps) << variant;
  }
}

TEST_P(Orthogonalisation, EntriesThatAreNotFiniteAreReported)
{
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), 1e200}) {
    TallMatrix V = random_block(2000, 5, 7);
    V(1999, 3) = bad;
    for (const std::string &variant : variants) {
      const Factors f = factorise(executor, variant, V);
      EXPECT_FALSE(f.report.is_done) << variant << bad;
      EXPECT_FALSE(f.report.is_finite) << variant << bad;
    }
  }
}

TEST_P(Orthogonalisation, ColumnsOfVeryDifferentLengthAreFactorised)
{
  TallMatrix V = block_of_condition(3000, 6, 10., 8);
  for (int i = 0; i < V.n; ++i) {
    V(i, 1) *= 1e30;
    V(i, 3) *= 1e-30;
    V(i, 5) *= 1e-60;
  }
  for (const std::string &variant : variants) {
    const Factors f = factorise(executor, variant, V);
    EXPECT_TRUE(f.report.ok()) << variant << f.report.variant;
    EXPECT_LT(orthogonality_error_of(f.Q), 1e4 * eps) << variant;
  }
}

TEST_P(Orthogonalisation, RepeatsAreBitIdentical)
{
  const TallMatrix V = block_of_condition(50021, 13, 1e4, 9);
  for (const std::string &variant : variants) {
    const Factors a = factorise(executor, variant + " passes=2", V);
    const Factors b = factorise(executor, variant + " passes=2", V);
    EXPECT_TRUE(same_bits(a.Q.values, b.Q.values)) << variant;
    EXPECT_TRUE(same_bits(a.R.values, b.R.values)) << variant;
  }
}

TEST_P(Orthogonalisation, OneObjectServesBlocksOfManySizes)
{
  const auto tsqr = make_tsqr("caqr", executor);
  for (const auto &[n, p] : std::vector<std::pair<int, int>>{{100, 3}, {5000, 9}, {700, 32}}) {
    const TallMatrix V = block_of_condition(n, p, 10., 10);
    ExecutorBlock block(executor, V);
    Buffer<double> R(executor, static_cast<std::size_t>(p) * static_cast<std::size_t>(p));
    EXPECT_TRUE(tsqr->factorise(n, block.view(), R.data()).ok());
    EXPECT_LT(orthogonality_error_of(block.to_host()), 10. * p * eps);
  }
}

/// Returns the theoretical bound of ‖I − QᵀQ‖ after one pass; a second pass reduces the error to
/// rounding.
double bound_of(const std::string &method, const int p, const double kappa)
{
  const double rounding = 10. * p * eps;
  if (method.find("passes=2") != std::string::npos || method == "caqr")
    return rounding;
  return rounding * std::pow(kappa, method == "mgs" ? 1 : method == "cgs" ? p - 1 : 2);
}

TEST_P(Orthogonalisation, PartsOfABlockHaveTheFactorsOfAll)
{
  for (const auto &[n, p] : std::vector<std::pair<int, int>>{{10, 4}, {700, 32}, {5000, 9}}) {
    const double kappa = 1e3;
    const TallMatrix V = block_of_condition(n, p, kappa, 19);
    for (const std::string &variant : variants)
      for (const char *const passes : {"", " passes=2"}) {
        const std::string method = variant + passes;
        const Factors alone = factorise(executor, method, V);
        const std::vector<Factors> of_ranks = factorise_on_ranks(executor, method, V);
        for (const Factors &f : of_ranks) {
          EXPECT_TRUE(f.report.ok()) << method;
          EXPECT_EQ(f.report.variant, variant);
          EXPECT_TRUE(same_bits(f.R.values, of_ranks[0].R.values)) << method;
        }
        EXPECT_LT(of_ranks[0].error(V), 10. * p * eps) << method << n;
        EXPECT_LT(distance(of_ranks[0].R, alone.R), 1e6 * p * eps * frobenius_norm(alone.R))
            << method;
        EXPECT_LT(orthogonality_error_of(of_ranks[0].Q), bound_of(method, p, kappa)) << method << n;
        expect_triangle(of_ranks[0].R);
      }
  }
}

TEST_P(Orthogonalisation, PartsFindFailingCholeskyTogether)
{
  for (const Factors &f :
       factorise_on_ranks(executor, "cholqr", block_of_condition(2000, 12, 1e11, 20))) {
    EXPECT_TRUE(f.report.is_done);
    EXPECT_GE(f.report.failed_column, 0);
    EXPECT_NE(f.report.variant, "cholqr");
    EXPECT_LT(orthogonality_error_of(f.Q), 1e-12);
  }
}

TEST_P(Orthogonalisation, PartsOfBlocksBecomeOrthogonalToABasis)
{
  const int n = 3000, q = 61, p = 26;
  const TallMatrix basis = orthonormal_block(n, q, 21), V = random_block(n, p, 22);
  const TallMatrix expected = transposed_product(basis, V);
  const std::vector<int> starts = starts_of_ranks(n);
  const double bound = 10. * std::sqrt(q) * eps * frobenius_norm(V);
  for (const char *const method : {"cgs passes=2", "mgs"}) {
    TallMatrix left(n, p);
    run_on_ranks(static_cast<int>(starts.size()) - 1,
                 [&](const int rank, const auto &communicator) {
                   const ExecutorPtr own = new_executor(executor);
                   ExecutorBlock Q(own, rows_of(basis, starts[rank], starts[rank + 1]));
                   ExecutorBlock block(own, rows_of(V, starts[rank], starts[rank + 1]));
                   TallMatrix found(q, p);
                   Buffer<double> C(own, found.values.size());
                   make_block_orthogonalisation(method, own, communicator.get())
                       ->orthogonalise(block.n, Q.view(), block.view(), C.data());
                   found.values = C.to_host();
                   EXPECT_LT(distance(found, expected), bound) << method;
                   set_rows(left, starts[rank], block.to_host());
                 });
    EXPECT_LT(frobenius_norm(transposed_product(basis, left)), bound) << method;
  }
}

TEST_P(Orthogonalisation, BlocksBecomeOrthogonalToABasis)
{
  for (const auto &[n, q, p] : std::vector<std::tuple<int, int, int>>{
           {33, 5, 3}, {1000, 1, 1}, {5000, 61, 15}, {2000, 300, 33}, {100007, 7, 6}}) {
    const TallMatrix basis = orthonormal_block(n, q, 11), V = random_block(n, p, 12);
    const TallMatrix expected = transposed_product(basis, V);
    for (const char *const method : {"cgs", "mgs", "cgs passes=2", "mgs passes=2"}) {
      ExecutorBlock Q(executor, basis), block(executor, V);
      Buffer<double> C(executor, static_cast<std::size_t>(q) * static_cast<std::size_t>(p));
      make_block_orthogonalisation(method, executor)
          ->orthogonalise(n, Q.view(), block.view(), C.data());
      TallMatrix found(q, p);
      found.values = C.to_host();
      const TallMatrix left = block.to_host();
      const double scale = frobenius_norm(V), bound = 10. * std::sqrt(q) * eps * scale;
      EXPECT_LT(distance(found, expected), bound) << method << n;
      EXPECT_LT(frobenius_norm(transposed_product(basis, left)), bound) << method << n;
      TallMatrix sum = product(basis, found);
      for (std::size_t k = 0; k < sum.values.size(); ++k)
        sum.values[k] += left.values[k];
      EXPECT_LT(distance(sum, V), bound) << method << n;
    }
  }
}

TEST_P(Orthogonalisation, ASecondPassTakesOutWhatTheFirstHasLeft)
{
  const int n = 4000, q = 20, p = 4;
  const TallMatrix basis = orthonormal_block(n, q, 13);
  const TallMatrix mixing = random_block(q, p, 14), rest = random_block(n, p, 15);
  TallMatrix V = product(basis, mixing); // only a fraction of 1e-10 will be outside the basis
  for (std::size_t k = 0; k < V.values.size(); ++k)
    V.values[k] += 1e-10 * rest.values[k];
  for (const std::string method : {"cgs", "mgs"}) {
    double angle[2] = {};
    for (const int passes : {1, 2}) {
      ExecutorBlock Q(executor, basis), block(executor, V);
      Buffer<double> C(executor, static_cast<std::size_t>(q) * static_cast<std::size_t>(p));
      make_block_orthogonalisation(method + " passes=" + std::to_string(passes), executor)
          ->orthogonalise(n, Q.view(), block.view(), C.data());
      const TallMatrix left = block.to_host();
      angle[passes - 1] = frobenius_norm(transposed_product(basis, left)) / frobenius_norm(left);
    }
    EXPECT_GT(angle[0], 1e3 * eps) << method;
    EXPECT_LT(angle[1], 10. * q * eps) << method;
  }
}

TEST_P(Orthogonalisation, ReportedErrorsAreThoseOfTheMatrices)
{
  const int n = 3001, p = 5;
  const TallMatrix V = block_of_condition(n, p, 1e5, 16);
  ExecutorBlock original(executor, V), block(executor, V);
  Buffer<double> R(executor, static_cast<std::size_t>(p) * static_cast<std::size_t>(p));
  const auto tsqr = make_tsqr("cholqr", executor);
  tsqr->factorise(n, block.view(), R.data());
  const TallMatrix Q = block.to_host();
  const double expected = orthogonality_error_of(Q);
  EXPECT_NEAR(tsqr->orthogonality_error(n, block.view()), expected, 1e-6 * expected);
  EXPECT_LT(tsqr->factorisation_error(n, original.view(), block.view(), R.data()), 10. * p * eps);
  R.fill_zero();
  EXPECT_NEAR(tsqr->factorisation_error(n, original.view(), block.view(), R.data()), 1., 10. * eps);
}

TEST_P(Orthogonalisation, WrongNamesAndSizesAreRefused)
{
  EXPECT_NE(text_of<ParameterError>([&] {
              make_tsqr("qr", executor);
            }).find("mgs, cgs, cholqr, svqr or caqr"),
            std::string::npos);
  EXPECT_THROW(make_tsqr("mgs safer=no", executor), ParameterError);
  EXPECT_THROW(make_tsqr("mgs passes=3", executor), ParameterError);
  EXPECT_THROW(make_block_orthogonalisation("caqr", executor), ParameterError);
  const TallMatrix V = random_block(100, 33, 17);
  EXPECT_NE(text_of<ParameterError>([&] { factorise(executor, "caqr", V); }).find("33 columns"),
            std::string::npos);
  ExecutorBlock block(executor, V);
  const Columns odd{block.memory.data(), 101, 2};
  EXPECT_NE(text_of<ParameterError>([&] {
              make_tsqr("mgs", executor)->factorise(100, odd, nullptr);
            }).find("even"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, Orthogonalisation, backends(), backend_name);

TEST(OrthogonalisationOnTheHost, DoesNotDependOnTheNumberOfThreads)
{
  const TallMatrix V = block_of_condition(50021, 7, 1e4, 18);
  for (const std::string &variant : variants) {
    const Factors one = factorise(std::make_shared<HostExecutor>(1), variant, V);
    const Factors three = factorise(std::make_shared<HostExecutor>(3), variant, V);
    EXPECT_TRUE(same_bits(one.Q.values, three.Q.values)) << variant;
    EXPECT_TRUE(same_bits(one.R.values, three.R.values)) << variant;
  }
}
} // namespace
} // namespace femgpu::linalg::test
