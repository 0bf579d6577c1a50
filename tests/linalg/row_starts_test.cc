#include "linalg/base/countable.h"
#include "linalg/base/host_matrix.h"
#include "linalg/execution/make_executor.h"
#include "linalg/matrices/registry.h"
#include "linalg/matrices/slices.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/sparse/product_steps.h"
#include "linalg/steps/views.h"
#include "linalg/transformations/registry.h"
#include "tests/linalg/on_backend.h"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <numeric>
#include <string>
#include <vector>

namespace femgpu::linalg::test
{
namespace
{
constexpr std::size_t many = std::size_t{1} << 32U;

/// Row starts for given row lengths, and their stored low 32 bits.
struct Rows
{
  explicit Rows(const std::vector<int> &lengths)
  {
    for (const int length : lengths)
      starts.push_back(starts.back() + static_cast<std::size_t>(length));
    for (const std::size_t start : starts)
      low.push_back(low_bits(start));
  }
  int n() const
  {
    return static_cast<int>(starts.size()) - 1;
  }
  RowStarts view() const
  {
    return {low.data(), n(), starts.back()};
  }

  std::vector<std::size_t> starts = {0};
  std::vector<int> low;
};

void expect_starts(const Rows &rows)
{
  const RowStarts view = rows.view();
  for (int i = 0; i < rows.n(); ++i) {
    EXPECT_EQ(view[i], rows.starts[i]) << "row " << i;
    EXPECT_EQ(static_cast<std::size_t>(view.length(i)), rows.starts[i + 1] - rows.starts[i]);
  }
  EXPECT_EQ(view[rows.n()], rows.starts.back());
}

TEST(RowStarts, FewEntriesAreCountedAsTheyAre)
{
  expect_starts(Rows({}));
  expect_starts(Rows({0, 3, 0, 2}));
}

TEST(RowStarts, EntriesAreCountedBeyond31And32Bits)
{
  const int longest = max_indices;
  expect_starts(Rows({longest, 1, longest, 7}));
  expect_starts(Rows(std::vector<int>(10, longest)));
  expect_starts(Rows(std::vector<int>(159, 1 << 27))); // rows start at all multiples of 2^32
  expect_starts(Rows({1 << 30, 1 << 30, 1 << 30, 1 << 30, 0, 0, 5}));
  expect_starts(Rows({1 << 30, 1 << 30, 1 << 30, (1 << 30) - 1, 1, 0, 5}));
  expect_starts(Rows({1 << 30, 1 << 30, 1 << 30, (1 << 30) - 1, 2, 0, 5}));
}

TEST(RowStarts, MoreThanCanBeCountedAreRefused)
{
  const std::vector<int> low = {0, 0};
  const std::string text =
      text_of<ParameterError>([&] { RowStarts(low.data(), 1, RowStarts::max_entries + 1); });
  EXPECT_NE(text.find("21474836479"), std::string::npos) << text;
}

TEST(RowStarts, ThoseOfACopyCrossWhereTheyDidBefore)
{
  const Rows rows(std::vector<int>(19, 1 << 30));
  const std::vector<int> copy = rows.low;
  const RowStarts view = rows.view().rebased(copy.data());
  EXPECT_EQ(view.low, copy.data());
  EXPECT_EQ(view[18], rows.starts[18]);
}

TEST(RowStarts, ThoseOfSlicesAreCountedAsFar)
{
  const int width = 1 << 25; // width of slices of 32 rows
  const RowSlices slices = choose_slices(std::vector<int>(256, width), 5, 32, 12);
  const std::vector<int> low = slices.low_starts();
  const RowStarts view(low.data(), 8, slices.starts.back());
  for (int slice = 0; slice <= 8; ++slice)
    EXPECT_EQ(view[slice], static_cast<std::size_t>(slice) * (std::size_t{1} << 30U));
  const std::string text =
      text_of<ParameterError>([] { choose_slices(std::vector<int>(32, 1 << 26), 5, 32, 12); });
  EXPECT_NE(text.find("slice of 32 rows"), std::string::npos) << text;
}

/// Reserved address space for an array; only the elements that are used occupy memory.
template <class T>
class Reserved
{
public:
  explicit Reserved(const std::size_t size)
      : bytes(size * sizeof(T)), memory(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
  {}
  Reserved(const Reserved &) = delete;
  Reserved &operator=(const Reserved &) = delete;
  ~Reserved()
  {
    if (is_mapped())
      munmap(memory, bytes);
  }
  bool is_mapped() const
  {
    return memory != MAP_FAILED;
  }
  T *data() const
  {
    return static_cast<T *>(memory);
  }

private:
  std::size_t bytes;
  void *memory;
};

/// A matrix with rows whose entries cross entry number 2^32, begin there or lie beyond. Tests
/// access only the entries of these rows.
struct LongMatrix
{
  LongMatrix() : columns(rows.starts.back()), values(rows.starts.back())
  {
    if (!is_mapped())
      return;
    for (std::size_t k = rows.starts[4]; k < rows.starts.back(); ++k)
      values.data()[k] = static_cast<double>(k - rows.starts[4] + 1);
    for (int i = 4; i < 7; ++i)
      std::iota(columns.data() + rows.starts[i], columns.data() + rows.starts[i + 1], 2);
  }
  bool is_mapped() const
  {
    return columns.is_mapped() && values.is_mapped();
  }
  CsrView<double> view() const
  {
    return {7, 1, rows.view(), columns.data(), values.data()};
  }

  const Rows rows{{1 << 30, 1 << 30, 1 << 30, (1 << 30) - 3, 5, 4, 3}};
  Reserved<int> columns;
  Reserved<double> values;
};

TEST(RowStarts, ViewsReadRowsBehind32Bits)
{
  const LongMatrix matrix;
  if (!matrix.is_mapped())
    GTEST_SKIP() << "no address space for so many entries";
  const std::vector<double> v = {1., 10., 100., 1000., 1e4, 1e5, 1e6};
  const CsrView<double> A = matrix.view();
  EXPECT_EQ(A.row_product(4, 0, 1, v.data()), 5432100.);
  EXPECT_EQ(A.row_product(5, 0, 1, v.data()), 987600.);
  EXPECT_EQ(A.row_product(6, 1, 2, v.data()), 11000.);
  EXPECT_EQ(A.row_magnitude(6, v.data()), 1000. + 11000. + 120000.);
  EXPECT_EQ(A.diagonal_entry(4), 2);
  EXPECT_EQ(A.diagonal(4), 3.);
  EXPECT_EQ(A.diagonal(6), 0.);
  ASSERT_NE(A.values, nullptr);
  const HostCsr host{7, matrix.rows.starts.back(), A.row_starts, A.columns, A.values};
  EXPECT_EQ(host.entries(5).values[1], 7.);
  EXPECT_EQ(host.entries(5).columns[1], 3);
}

/// A team of one thread, as on the host.
struct OneThread
{
  static constexpr int rank()
  {
    return 0;
  }
  static constexpr int size()
  {
    return 1;
  }
  double *scratch() const
  {
    return memory;
  }
  double *memory;
};

TEST(RowStarts, FirstFactorsHaveRowsBehind32Bits)
{
  const LongMatrix matrix;
  if (!matrix.is_mapped())
    GTEST_SKIP() << "no address space for so many entries";
  // Row j of the product is (B v)_j = v_0 + j v_1.
  const ExecutorPtr executor = make_executor("host");
  const std::vector<int> starts = {0, 2, 4, 6, 8, 10, 12, 14};
  const std::vector<int> columns = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  const std::vector<double> values = {1., 0., 1., 1., 1., 2., 1., 3., 1., 4., 1., 5., 1., 6.};
  const CsrView<double> A = matrix.view(), B{7, 1, starts.data(), columns.data(), values.data()};
  const PatternRef rows_of_A{executor, {A.row_starts, A.columns}, 7, 7, matrix.rows.starts.back()};
  const PatternRef rows_of_B{executor, {B.row_starts, B.columns}, 7, 2, 14};
  const std::vector<int> last = {4, 5, 6};
  EXPECT_EQ(product_lengths<HostBackend>(rows_of_A, rows_of_B,
                                         {3, Buffer<int>(executor, last.data(), last.size())}),
            std::vector<int>({2, 2, 2}));

  std::vector<double> C(14), positions(1);
  const AddHostProductRow add{{A, B, {starts.data(), columns.data()}, 1, false, nullptr, C.data()}};
  for (const int i : last)
    add(OneThread{positions.data()}, i);
  EXPECT_EQ(std::vector<double>(C.begin() + 8, C.end()),
            std::vector<double>({15., 70., 30., 110., 33., 101.}));

  const std::string text = text_of<SolverError>([&] { rows_of_A.view(); });
  EXPECT_NE(text.find("a 7 x 7 matrix with 4294967305 entries"), std::string::npos) << text;
}

TEST(RowStarts, WhatCountsByIntSaysWhatDoesNot)
{
  const auto refusal = [](const auto &check) { return text_of<ParameterError>(check); };
  const std::string coo =
      refusal([] { check_countable("matrix format", linalg::formats, "coo values=float", many); });
  EXPECT_NE(coo.find("'coo' supports at most 2146435071 entries"), std::string::npos) << coo;
  EXPECT_NE(coo.find("4294967296"), std::string::npos) << coo;
  EXPECT_NE(coo.find("csr"), std::string::npos) << coo;
  const std::string ilu = refusal(
      [] { check_countable("preconditioner", linalg::preconditioners, "ilu level=1", many); });
  EXPECT_NE(ilu.find("chebyshev"), std::string::npos) << ilu;
  EXPECT_EQ(ilu.find("sai,"), std::string::npos) << ilu;
  check_countable("preconditioner", linalg::preconditioners, "multigrid",
                  many); // multigrid itself checks each level
  const std::string rcm =
      refusal([] { check_countable("ordering", linalg::orderings, "rcm", many); });
  EXPECT_NE(rcm.find("'rcm'"), std::string::npos) << rcm;
  check_countable("matrix format", linalg::formats, "csr", many);
  check_countable("matrix format", linalg::formats, "coo", max_indices);
  check_countable("preconditioner", linalg::preconditioners, "jacobi", many);
}
} // namespace
} // namespace femgpu::linalg::test
