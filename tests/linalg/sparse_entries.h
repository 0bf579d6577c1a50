#ifndef femgpu_tests_linalg_sparse_entries_h
#define femgpu_tests_linalg_sparse_entries_h

#include "linalg/operators/csr_matrix.h"

#include <map>
#include <vector>

namespace femgpu::linalg::test
{
/// A rectangular matrix on the host; each row maps columns to values.
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

/// Copies @p A to the host and checks that columns ascend.
Entries to_host(const CsrMatrix &A);

/// Returns a matrix whose rows have about @p mean entries. Every fifth row is empty, and a few rows
/// have @p longest entries.
Entries random_entries(int n, int n_columns, int mean, int longest, unsigned int seed);

/// Returns a matrix with the pattern of @p A and other values.
Entries with_new_values(Entries A);
Entries transpose(const Entries &A);
Entries multiply(const Entries &A, const Entries &B);

/// Returns |A|. The rounding error of A B is a multiple of |A||B|.
Entries magnitudes(Entries A);

/// Checks that the patterns agree and that values differ by rounding errors only.
/// @param sizes for each entry, the sum of the magnitudes of its terms
void expect_near(const Entries &A, const Entries &expected, const Entries &sizes);
} // namespace femgpu::linalg::test

#endif
