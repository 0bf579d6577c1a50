#include "tests/linalg/on_backend.h"

namespace femgpu::linalg::test
{
namespace
{
TEST(CheckCsr, AcceptsEveryMatrixOfTheTests)
{
  for (const HostMatrix &A :
       {laplacian_1d(0), laplacian_1d(1), laplacian_2d(7, 5), laplacian_3d(3, 4, 5),
        box_27(4, 3, 2), neumann_1d(5), random_spd(200, 9, 1), arrow(50), with_empty_rows(50)})
    EXPECT_NO_THROW(check_csr(A.csr()));
}

/// Returns the error message of check_csr() for a 4 x 4 Laplacian changed by @p corrupt.
template <class Corrupt>
std::string csr_error(Corrupt &&corrupt)
{
  HostMatrix A = laplacian_1d(4); // row starts 0 2 5 8 10
  corrupt(A);
  return text_of<InputError>([&] { check_csr(A.csr()); });
}

void expect_in(const std::string &substring, const std::string &text)
{
  EXPECT_NE(text.find(substring), std::string::npos) << text;
}

TEST(CheckCsr, NamesTheRowWithAWrongColumn)
{
  expect_in("Row 2 ", csr_error([](HostMatrix &A) { A.columns[6] = 4; }));
  expect_in("column 4 ", csr_error([](HostMatrix &A) { A.columns[7] = 4; }));
  expect_in("Row 0 ", csr_error([](HostMatrix &A) { A.columns[0] = -1; }));
  expect_in("column -1 ", csr_error([](HostMatrix &A) { A.columns[0] = -1; }));
}

TEST(CheckCsr, NamesTheRowWhoseColumnsDoNotAscend)
{
  expect_in("Row 1 ", csr_error([](HostMatrix &A) { std::swap(A.columns[2], A.columns[3]); }));
  expect_in("Row 3 ", csr_error([](HostMatrix &A) { A.columns[9] = A.columns[8]; }));
}

TEST(CheckCsr, NamesTheRowOfNegativeLength)
{
  expect_in("Row 2 ", csr_error([](HostMatrix &A) { A.row_starts[3] = 4; }));
}

TEST(CheckCsr, NamesTheRowThatEndsBeyondTheEntriesWithoutReadingThem)
{
  const std::string text = csr_error([](HostMatrix &A) { A.row_starts[2] = 1000000000; });
  expect_in("Row 1 ", text);
  expect_in("1000000000", text);
}

TEST(CheckCsr, RefusesRowStartsThatDoNotFitTheEntries)
{
  expect_in("begin with 0", csr_error([](HostMatrix &A) { A.row_starts[0] = 1; }));
  const std::string text = csr_error([](HostMatrix &A) { A.row_starts[4] = 9; });
  expect_in("end at 9", text);
  expect_in("10 entries", text);
}

TEST(HostMatrixTest, RefusesCoordinatesThatAreNotThoseOfItsRows)
{
  HostMatrix A = laplacian_2d(3, 2);
  A.add(A.n, 1.);
  A.end_row();
  const std::string text = text_of<InputError>([&] { A.csr(); });
  expect_in("7 rows has 12 coordinates", text);
  expect_in("needs 2", text);
}

class CsrTest : public OnBackend
{
protected:
  // Copies the values of the matrix to the host.
  static std::vector<double> values_of(const CsrMatrix &A)
  {
    std::vector<double> values(A.n_nonzeros());
    A.executor()->copy_to_host(values.data(), A.csr_view().values, values.size() * sizeof(double));
    return values;
  }
};

TEST_P(CsrTest, KnowsItsSize)
{
  for (const int n : {0, 1, 31, 32, 33, 100007}) {
    const HostMatrix A = laplacian_1d(n);
    const CsrMatrix matrix(executor, A.csr());
    EXPECT_EQ(matrix.n(), n);
    EXPECT_EQ(matrix.n_nonzeros(), A.columns.size());
    EXPECT_EQ(matrix.bytes(), 4 * (static_cast<std::size_t>(n) + 1) + 12 * A.columns.size());
    EXPECT_EQ(matrix.executor(), executor);
  }
}

TEST_P(CsrTest, HoldsTheValuesGivenAndThenTheUpdatedOnes)
{
  const HostMatrix A = random_spd(300, 12, 3);
  CsrMatrix matrix(executor, A.csr());
  EXPECT_EQ(values_of(matrix), A.values);
  const HostMatrix B = with_integer_values(A, 4);
  matrix.update_values(B.values.data());
  EXPECT_EQ(values_of(matrix), B.values);
}

TEST_P(CsrTest, GivesLongerRowsMoreThreadsByItself)
{
  if (executor->backend() == BackendKind::host)
    GTEST_SKIP() << "one thread a row on the host";
  const auto threads_for = [&](const HostMatrix &A) {
    return CsrMatrix(executor, A.csr()).csr_view().lanes;
  };
  EXPECT_EQ(threads_for(laplacian_1d(0)), 1);
  EXPECT_EQ(threads_for(laplacian_2d(50, 50)), 1);
  const int for_27 = threads_for(box_27(20, 20, 20));
  EXPECT_GE(for_27, 2);
  EXPECT_LE(for_27, 8);
  EXPECT_EQ(threads_for(random_spd(1000, 400, 1)), 32);
}

INSTANTIATE_TEST_SUITE_P(Backends, CsrTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
