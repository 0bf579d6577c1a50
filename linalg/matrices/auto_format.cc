#include "linalg/base/error.h"
#include "linalg/matrices/format.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
/// Statistics of the row lengths on all ranks.
struct RowStatistics
{
  explicit RowStatistics(const CsrMatrix &A)
  {
    const RowSpace &rows = *A.range();
    n_nonzeros = rows.sum(static_cast<double>(A.n_nonzeros()));
    const double n = std::max(1., static_cast<double>(rows.n_global()));
    mean = n_nonzeros / n;
    double squares = 0.;
    for (const int length : A.host_row_lengths()) {
      squares += (length - mean) * (length - mean);
      longest = std::max(longest, length);
    }
    deviation = std::sqrt(rows.sum(squares) / n);
    longest = static_cast<int>(rows.max(longest));
  }

  double n_nonzeros = 0., mean = 0., deviation = 0.;
  int longest = 0;
};

/// Returns the format that moves the fewest bytes among those with balanced work per thread. On an
/// H100 it is the fastest, or within a few per cent of the fastest (docs/appendix_formats.md). On
/// CPUs, long loops over a row are fastest, and decoding short columns costs more time than the
/// saved bytes gain.
std::string choose_format(const CsrMatrix &A, const RowStatistics &rows)
{
  const int per_node = static_cast<int>(A.range()->max(A.unknowns()->per_node));
  const bool has_blocks = per_node > 1 && A.range()->max(A.n() % per_node) == 0.;
  if (A.executor()->backend() == BackendKind::host)
    return has_blocks ? "bsr" : "csr";
  if (has_dominant_row(rows.n_nonzeros, rows.mean, rows.longest))
    return "pcsr";
  const bool is_even = rows.deviation < 0.5 * rows.mean;
  if (has_blocks)
    return is_even ? "bsell" : "bsr";
  return is_even ? "sell columns=short" : "csr";
}
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class AutoStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  const RowStatistics statistics(A);
  const std::string values = FormatScalars::choose(method, [](const auto scalar) {
    return std::string(" values=") + scalar_name<typename decltype(scalar)::Type>;
  });
  std::ostringstream reason;
  reason.precision(3);
  reason << "chosen for rows of " << statistics.mean << " +- " << statistics.deviation
         << " entries, at most " << statistics.longest;
  const std::string chosen = choose_format(A, statistics);
  std::unique_ptr<Matrix> matrix;
  try {
    matrix = make_format(chosen + values, A);
  }
  catch (const Error &error) { // insufficient memory, or more padding than permitted
    if (A.range()->communicator() != nullptr)
      throw;
    matrix = make_format("csr" + values, A);
    reason << ", instead of " << chosen << ": " << error.what();
  }
  matrix->reason = reason.str();
  return matrix;
}
} // namespace femgpu::linalg
