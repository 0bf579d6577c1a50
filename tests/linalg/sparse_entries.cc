#include "tests/linalg/sparse_entries.h"

#include "tests/linalg/on_backend.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace femgpu::linalg::test
{
CsrMatrix to_device(const ExecutorPtr &executor, const Entries &A)
{
  std::vector<int> row_starts = {0}, columns;
  std::vector<double> values;
  for (const auto &row : A.rows) {
    for (const auto &[column, value] : row) {
      columns.push_back(column);
      values.push_back(value);
    }
    row_starts.push_back(static_cast<int>(columns.size()));
  }
  return {executor, A.n_columns, Buffer<int>(executor, row_starts.data(), row_starts.size()),
          Buffer<int>(executor, columns.data(), columns.size()),
          Buffer<double>(executor, values.data(), values.size())};
}

std::vector<double> values_of(const CsrMatrix &A)
{
  std::vector<double> values(A.n_nonzeros());
  if (!values.empty())
    A.executor()->copy_to_host(values.data(), A.csr_view().values, values.size() * sizeof(double));
  return values;
}

Entries to_host(const CsrMatrix &A)
{
  const std::vector<int> row_starts = A.host_row_starts(), columns = A.host_columns();
  const std::vector<double> values = values_of(A);
  Entries result{A.n_columns(), std::vector<std::map<int, double>>(A.n())};
  for (int i = 0; i < A.n(); ++i)
    for (int k = row_starts[i]; k < row_starts[i + 1]; ++k) {
      EXPECT_TRUE(k == row_starts[i] || columns[k] > columns[k - 1]) << "row " << i;
      EXPECT_TRUE(columns[k] >= 0 && columns[k] < A.n_columns()) << "row " << i;
      result.rows[i][columns[k]] = values[k];
    }
  return result;
}

Entries random_entries(const int n, const int n_columns, const int mean, const int longest,
                       const unsigned int seed)
{
  std::mt19937 random(seed);
  const auto below = [&](const int limit) {
    return static_cast<int>(random() % static_cast<unsigned int>(std::max(limit, 1)));
  };
  Entries A{n_columns, std::vector<std::map<int, double>>(n)};
  for (int i = 0; i < n && n_columns > 0; ++i) {
    const int length = i % 97 == 3 ? longest : i % 5 == 2 ? 0 : 1 + below(2 * mean);
    for (int k = 0; k < length; ++k)
      A.rows[i][below(n_columns)] = 1e-3 * (below(2001) - 1000);
  }
  return A;
}

Entries with_new_values(Entries A)
{
  int k = 0;
  for (auto &row : A.rows)
    for (auto &[column, value] : row)
      value = std::cos(1.7 * ++k);
  return A;
}

Entries transpose(const Entries &A)
{
  Entries result{A.n(), std::vector<std::map<int, double>>(A.n_columns)};
  for (int i = 0; i < A.n(); ++i)
    for (const auto &[column, value] : A.rows[i])
      result.rows[column][i] = value;
  return result;
}

Entries multiply(const Entries &A, const Entries &B)
{
  Entries result{B.n_columns, std::vector<std::map<int, double>>(A.n())};
  for (int i = 0; i < A.n(); ++i)
    for (const auto &[k, a] : A.rows[i])
      for (const auto &[j, b] : B.rows[k])
        result.rows[i][j] += a * b;
  return result;
}

Entries magnitudes(Entries A)
{
  for (auto &row : A.rows)
    for (auto &[column, value] : row)
      value = std::abs(value);
  return A;
}

void expect_near(const Entries &A, const Entries &expected, const Entries &sizes)
{
  ASSERT_EQ(A.n(), expected.n());
  ASSERT_EQ(A.n_columns, expected.n_columns);
  for (int i = 0; i < A.n(); ++i) {
    ASSERT_EQ(A.rows[i].size(), expected.rows[i].size()) << "row " << i;
    for (const auto &[column, value] : expected.rows[i]) {
      const auto found = A.rows[i].find(column);
      ASSERT_NE(found, A.rows[i].end()) << i << ", " << column;
      ASSERT_NEAR(found->second, value, 50 * eps * sizes.rows[i].at(column)) << i << ", " << column;
    }
  }
}
} // namespace femgpu::linalg::test
