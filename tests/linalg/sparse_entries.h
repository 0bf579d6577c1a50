#ifndef femgpu_tests_linalg_sparse_entries_h
#define femgpu_tests_linalg_sparse_entries_h

#include "linalg/operators/csr_matrix.h"

#include <map>
#include <vector>

namespace femgpu::linalg::test
{
/// A rectangular matrix on the host, rows of column and value.
struct Entries
{
  int n_columns = 0;
  std::vector<std::map<int, double>> rows;

  int n() const
  {
    return static_cast<int>(rows.size());
  }
  bool operator==(const Entries &other) const
  {
    return n_columns == other.n_columns && rows == other.rows;
  }
};

CsrMatrix to_device(const ExecutorPtr &executor, const Entries &A);
std::vector<double> values_of(const CsrMatrix &A);

/// Also looks whether columns ascend.
Entries to_host(const CsrMatrix &A);

/// Rows of about @p mean entries, every fifth without any, and few of @p longest.
Entries random_entries(int n, int n_columns, int mean, int longest, unsigned int seed);

/// The same pattern with other values.
Entries with_new_values(Entries A);
Entries transpose(const Entries &A);
Entries multiply(const Entries &A, const Entries &B);

/// |A||B|, of which rounding is a multiple.
Entries magnitudes(Entries A);

/// The same pattern, and values that differ by rounding of sums with @p sizes.
void expect_near(const Entries &A, const Entries &expected, const Entries &sizes);
} // namespace femgpu::linalg::test

#endif
