#include "linalg/execution/make_executor.h"
#include "linalg/matrices/registry.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
/// Tests which matrices the formats refuse, and what they report. step_checks.h tests the products.
class FormatTest : public OnBackend
{
protected:
  std::unique_ptr<Matrix> make(const std::string &format, const HostMatrix &A)
  {
    csr = std::make_unique<CsrMatrix>(executor, A.csr());
    return make_format(format, *csr);
  }

  std::string refusal(const std::string &format, const HostMatrix &A)
  {
    return text_of<ParameterError>([&] { make(format, A); });
  }

  std::unique_ptr<CsrMatrix> csr;
};

void expect_in(const std::string &substring, const std::string &text)
{
  EXPECT_NE(text.find(substring), std::string::npos) << text;
}

TEST_P(FormatTest, PaddingOverTheBoundIsRefusedWithTheNumbers)
{
  const HostMatrix A = arrow(2000); // one row of 2000 entries, the others with 2
  for (const char *const format : {"ellpack-r", "ellr-t", "sell slice=32 window=1"}) {
    const std::string text = refusal(format, A);
    expect_in("for the 5998 entries of a matrix with 2000 rows", text);
    expect_in("max-padding=3", text);
  }
  EXPECT_GT(make("sell max-padding=50", A)->n_stored(), 5998U);
  EXPECT_EQ(make("pcsr padding=1", A)->n_stored(), 5998U);
}

TEST_P(FormatTest, IndicesThatOverflowAreRefusedWithTheNumbers)
{
  const std::string text = refusal("ellpack-r max-padding=1000000", arrow(160000));
  expect_in("would store 25600000000", text); // 160000 rows of 160000 entries
  expect_in("21474836479", text);             // RowStarts::max_entries
}

TEST_P(FormatTest, BlocksThatDoNotDivideTheRowsAreRefused)
{
  const std::string text = refusal("bsr block=3", laplacian_1d(10));
  expect_in("10 rows", text);
  expect_in("block size 3", text);
}

TEST_P(FormatTest, BsrTakesTheUnknownsOfANode)
{
  const ModelProblem problem = generate("elasticity3d-p1:3");
  expect_in("blocks of 3", make("bsr", problem.A)->format());
  HostMatrix unknown = problem.A;
  unknown.unknowns = default_unknowns;
  expect_in("blocks of 3", make("bsell", problem.A)->format());
  const auto found = make("bsr", unknown);
  expect_in("blocks of 3", found->format());
  EXPECT_LT(found->bytes(), make("csr", unknown)->bytes());
}

// The true residual is computed with CSR, so it decreases only if the products with blocks are
// correct.
TEST_P(FormatTest, BlocksOfEverySizeSolveTheSystem)
{
  const HostMatrix A = laplacian_2d(12, 25); // 300 rows: 50 blocks of 6, the last slice not full
  const std::vector<double> b = random_vector(A.n, 5);
  LinearSolverOptions options = method("cg", "jacobi", 1e-11);
  const Solved expected = solve(executor, options, A, b);
  for (const int block : {1, 2, 3, 4, 5, 6})
    for (const char *const slices : {"bsr", "bsell", "bsell slice=4 window=16"}) {
      options.format = slices + (" max-padding=100 block=" + std::to_string(block));
      SCOPED_TRACE(options.format);
      const Solved solved = solve(executor, options, A, b);
      EXPECT_TRUE(solved.report.converged()) << solved.report.message;
      EXPECT_EQ(solved.report.restarts, 0);
      EXPECT_NEAR(solved.report.iterations, expected.report.iterations, 1);
    }
}

TEST_P(FormatTest, UnknownNamesAndOptionsAreErrors)
{
  const HostMatrix A = laplacian_1d(5);
  expect_in("There is no matrix format 'elpack'", refusal("elpack", A));
  expect_in("use values, threads", refusal("csr thread=4", A));
  expect_in("but is 3", refusal("csr threads=3", A));
  expect_in("an integer from 0 to 32", refusal("csr threads=64", A));
  expect_in("a power of two", refusal("sell slice=3", A));
  expect_in("1, 2 or 4", refusal("pcsr prefetch=3", A));
  expect_in("double or float", refusal("coo values=half", A));
  expect_in("int or short", refusal("sell columns=char", A));
  EXPECT_THROW(check_format("csr thread=4"), ParameterError);
  EXPECT_NO_THROW(check_format("pcsr prefetch=4 padding=8 values=float"));
}

TEST_P(FormatTest, FloatValuesHalveTheBytesOfTheValues)
{
  const HostMatrix A = box_27(8, 8, 8);
  for (const char *const format : {"csr", "ellpack-r", "sell", "coo", "pcsr padding=1"}) {
    const auto exact = make(format, A);
    const std::size_t bytes = exact->bytes(), stored = exact->n_stored();
    const auto rounded = make(std::string(format) + " values=float", A);
    EXPECT_EQ(rounded->n_stored(), stored);
    EXPECT_LE(rounded->bytes(), bytes - 4 * A.columns.size()) << format;
    expect_in("float values", rounded->format());
  }
}

TEST_P(FormatTest, ShortColumnsTakeABaseWhereTheRowsOfASliceHaveTheSameDistances)
{
  const int n = 128;
  const std::size_t bytes = make("sell slice=32", laplacian_1d(n))->bytes();
  const auto shorter = make("sell slice=32 columns=short", laplacian_1d(n));
  // Each of the four slices stores three bases and the offset of its codes. The first and the last
  // slice contain rows of two entries and therefore need codes.
  const std::size_t n_slices = 4, width = 3, coded = width * 64;
  EXPECT_EQ(shorter->bytes(), bytes - shorter->n_stored() * sizeof(int) +
                                  n_slices * (width + 1) * sizeof(int) +
                                  coded * sizeof(std::uint16_t));
  expect_in("slices of 32, rows in the given order", shorter->format());
  expect_in(", short columns: 16 bits for 50 % of the entries", shorter->format());
  expect_in(", short columns", make("sell slice=32 columns=short", diagonal({1., 2.}))->format());
}

TEST_P(FormatTest, RowsAreSortedWhereThatSavesBytes)
{
  HostMatrix A; // every 32nd row is long
  for (int i = 0; i < 2048; ++i) {
    for (int j = 0; j < (i % 32 == 0 ? 40 : 2); ++j)
      A.add(j, 1.);
    A.end_row();
  }
  const auto sorted = make("sell slice=32 window=1024 max-padding=100", A);
  expect_in("sorted in windows of 1024", sorted->format());
  EXPECT_EQ(sorted->n_stored(), 2U * (32U * 40U + 31U * 32U * 2U));
  const auto unsorted = make("sell slice=32 window=1 max-padding=100", A);
  expect_in("rows in the given order", unsorted->format());
  EXPECT_EQ(unsorted->n_stored(), 64U * 32U * 40U);
  expect_in("rows in the given order", make("sell slice=32", laplacian_3d(40, 40, 40))->format());
}

TEST_P(FormatTest, ShortColumnsTellHowManyEntriesHaveLongOnes)
{
  HostMatrix A = laplacian_1d(1000000);
  const std::string text = make("sell slice=32 columns=short", A)->format();
  EXPECT_EQ(text.find("32 bits"), std::string::npos) << text;
  A = far_diagonal(640000, 31); // each slice has offsets from -310000 to 310000
  const std::size_t bytes = make("sell slice=32", A)->bytes();
  const auto none_fits = make("sell slice=32 columns=short", A);
  expect_in("short columns: 32 bits for 100 % of the entries", none_fits->format());
  EXPECT_EQ(none_fits->bytes(), bytes + 640000 / 32 * sizeof(int));
}

TEST_P(FormatTest, AutoChoosesByTheLengthsOfRows)
{
  const bool is_on_host = executor->backend() == BackendKind::host;
  const auto expect = [&](const std::string &on_gpu, const std::string &on_host,
                          const HostMatrix &A) {
    const auto matrix = make("auto", A);
    const std::string text = matrix->format(), name = is_on_host ? on_host : on_gpu;
    EXPECT_EQ(text.rfind(name + ",", 0), 0U) << text;
    expect_in("chosen for rows of ", text);
    EXPECT_EQ(text, make("auto", A)->format());
  };
  expect("sell", "csr", laplacian_2d(100, 100));
  expect("bsell", "bsr", generate("elasticity3d-p1:5").A);
  expect("pcsr", "csr", arrow(5000));
  HostMatrix uneven; // rows of 1 to 39 entries
  for (int i = 0; i < 1000; ++i) {
    for (int j = i; j < std::min(1000, i + (i % 4 == 0 ? 39 : 1)); ++j)
      uneven.add(j, 1.);
    uneven.end_row();
  }
  expect("csr", "csr", uneven);
}

TEST_P(FormatTest, AutoTakesPlainRowsWhereThereIsNoMemoryForOthers)
{
  const HostMatrix A = generate("elasticity3d-p1:5").A;
  const auto peak_with = [&](const char *const format) {
    const ExecutorPtr enough = make_executor(GetParam(), {1, std::size_t(1) << 30});
    const CsrMatrix on_enough(enough, A.csr());
    make_format(format, on_enough);
    return enough->peak_bytes();
  };
  const std::size_t min_memory = peak_with("csr values=float") + 4096,
                    max_memory = peak_with("auto values=float");
  ASSERT_LT(min_memory, max_memory);
  for (std::size_t memory_limit = min_memory; memory_limit < max_memory;
       memory_limit += (max_memory - min_memory) / 20 + 1) {
    const ExecutorPtr limited = make_executor(GetParam(), {1, memory_limit});
    const CsrMatrix on_limited(limited, A.csr());
    const std::string text = make_format("auto values=float", on_limited)->format();
    EXPECT_EQ(text.rfind("csr", 0), 0U) << text;
    expect_in("instead of bs", text);
  }
  const ExecutorPtr nothing = make_executor(GetParam(), {1, min_memory - 8192});
  const CsrMatrix alone(nothing, A.csr());
  EXPECT_THROW(make_format("auto values=float", alone), DeviceError);
}

TEST_P(FormatTest, CusparseIsRefusedOnTheHost)
{
  if (executor->backend() != BackendKind::host)
    GTEST_SKIP() << "it is there";
  for (const char *const format : {"cusparse-csr", "cusparse-sell", "cusparse-bsr"})
    expect_in("needs a GPU", refusal(format, laplacian_1d(5)));
}

INSTANTIATE_TEST_SUITE_P(Backends, FormatTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
