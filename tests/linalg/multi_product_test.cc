#include "linalg/matrices/multi_product.h"

#include "linalg/execution/host/executor.h"
#include "linalg/matrices/registry.h"
#include "linalg/operators/csr_matrix.h"
#include "solve/generators/registry.h"
#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <memory>

namespace femgpu::linalg::test
{
namespace
{
constexpr int column_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17};

/// Returns @p n_columns random columns of length @p n, one after the other.
std::vector<double> random_columns(const int n, const int n_columns)
{
  return random_vector(n * n_columns, 7);
}

std::vector<double> column(const std::vector<double> &columns, const int n, const int c)
{
  const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(n) * c;
  return {begin, begin + n};
}

class MultiVectorTest : public OnBackend
{};

TEST_P(MultiVectorTest, CopiesKeepTheValuesInBothLayouts)
{
  for (const int n : {0, 1, 31, 33, 1000})
    for (const int k : column_counts) {
      SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(k));
      const auto space = std::make_shared<RowSpace>(executor, n);
      MultiVector<double> X(space, k);
      const std::size_t leading = static_cast<std::size_t>(n) + 3;
      const std::vector<double> columns = random_vector(static_cast<int>(leading) * k, 3);
      X.copy_columns_from_host(columns.data(), leading);
      std::vector<double> rows(static_cast<std::size_t>(n) * k), back(columns.size(), 0.);
      X.copy_rows_to_host(rows.data());
      for (int c = 0; c < k; ++c)
        for (int i = 0; i < n; ++i)
          ASSERT_EQ(rows[static_cast<std::size_t>(i) * k + c], columns[leading * c + i]);
      MultiVector<double> Y(space, k);
      Y.copy_rows_from_host(rows.data());
      Buffer<double> v = space->make_vector();
      for (int c = 0; c < k; ++c) {
        X.get_column(c, v);
        const std::vector<double> found = v.to_host();
        ASSERT_TRUE(std::equal(found.begin(), found.end(), columns.begin() + leading * c));
        Y.set_column(k - 1 - c, v);
      }
      Y.copy_columns_to_host(back.data(), leading);
      for (int c = 0; c < k; ++c)
        ASSERT_TRUE(std::equal(back.begin() + leading * c, back.begin() + leading * c + n,
                               columns.begin() + leading * (k - 1 - c)));
    }
}
INSTANTIATE_TEST_SUITE_P(Backends, MultiVectorTest, backends(), backend_name);

class MultiProductTest : public OnBackend
{
protected:
  /// Checks the products of @p matrix, which is @p A in some format, with all numbers of columns.
  void expect_products(const HostMatrix &A, const Matrix &matrix)
  {
    for (const int k : column_counts) {
      SCOPED_TRACE(std::to_string(k) + " columns");
      const std::vector<double> x = random_columns(A.n, k);
      MultiVector<double> X(matrix.domain(), k), Y(matrix.range(), k);
      X.copy_columns_from_host(x.data(), static_cast<std::size_t>(A.n));
      std::vector<double> y(x.size()), again(x.size());
      multiply(matrix, X, Y);
      Y.copy_columns_to_host(y.data(), static_cast<std::size_t>(A.n));
      for (int c = 0; c < k; ++c)
        EXPECT_LE(relative_difference(column(y, A.n, c), multiply(A, column(x, A.n, c))),
                  100. * eps)
            << "column " << c;
      multiply(matrix, X, Y);
      Y.copy_columns_to_host(again.data(), static_cast<std::size_t>(A.n));
      EXPECT_TRUE(have_same_bits(y, again));
    }
  }
};

TEST_P(MultiProductTest, ColumnsAreProductsInEveryFormat)
{
  for (const HostMatrix &A : {laplacian_1d(1), laplacian_2d(31, 32), box_27(9, 10, 11),
                              random_dominant(333, 9, 4), with_empty_rows(99)}) {
    const CsrMatrix csr(executor, A.csr());
    for (const std::string format :
         {"csr", "csr threads=4", "csr values=float", "ellpack-r max-padding=1000",
          "ellr-t max-padding=1000", "sell max-padding=1000", "sell columns=short max-padding=1000",
          "sell slice=4 window=16 max-padding=1000", "coo", "pcsr", "bsr block=3 max-padding=1000",
          "bsell block=3 max-padding=1000", "auto"}) {
      if (A.n % 3 != 0 && format.find("block=3") != std::string::npos)
        continue;
      SCOPED_TRACE(format + ", " + std::to_string(A.n) + " rows");
      expect_products(A, *make_format(format, csr));
    }
  }
}

TEST_P(MultiProductTest, ColumnsAreProductsWithBlocksOfANode)
{
  const ModelProblem problem = generate("elasticity3d-p1:5");
  const CsrMatrix csr(executor, problem.A.csr());
  for (const char *const format : {"bsr", "bsell", "bsell slice=4 window=16"})
    expect_products(problem.A, *make_format(format, csr));
}

TEST_P(MultiProductTest, GhostsOfAllColumnsAreExchanged)
{
  const HostMatrix A = box_27(8, 9, 10);
  for (const std::vector<int> &starts : {std::vector<int>{0, 300, 720}, uneven(A)}) {
    const std::vector<LocalMatrix> matrices = cut_matrix(A, starts);
    for (const int k : column_counts) {
      const std::vector<double> x = random_columns(A.n, k);
      std::vector<double> y(x.size());
      run_on_ranks(static_cast<int>(matrices.size()), [&](const int p, const auto &communicator) {
        const LocalMatrix &own = matrices[static_cast<std::size_t>(p)];
        const ExecutorPtr own_executor = make_executor(GetParam());
        const auto range = std::make_shared<RowSpace>(own_executor, own.rows.n, communicator);
        const CsrMatrix own_A(range, std::make_shared<RowSpace>(*range, own.ghosts),
                              own.rows.csr());
        MultiVector<double> X(own_A.domain(), k), Y(own_A.range(), k);
        X.copy_columns_from_host(x.data() + own.begin, static_cast<std::size_t>(A.n));
        multiply(own_A, X, Y);
        Y.copy_columns_to_host(y.data() + own.begin, static_cast<std::size_t>(A.n));
      });
      for (int c = 0; c < k; ++c)
        EXPECT_LE(relative_difference(column(y, A.n, c), multiply(A, column(x, A.n, c))),
                  100. * eps);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Backends, MultiProductTest, backends(), backend_name);
} // namespace
} // namespace femgpu::linalg::test
