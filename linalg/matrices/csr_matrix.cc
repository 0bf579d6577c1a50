#include "linalg/matrices/csr_matrix.h"

#include "linalg/base/error.h"

namespace femgpu::linalg
{
namespace
{
// On a GPU a thread takes short rows alone, and rows are shared so that each thread has about four
// entries: enough loads in flight, and coalesced reads of values and columns.
int default_threads_per_row(const HostCsr &A)
{
  const double mean = A.n > 0 ? static_cast<double>(A.n_nonzeros) / A.n : 0.;
  int threads = 1;
  while (threads < 32 && 8 * threads <= mean)
    threads *= 2;
  return threads;
}

int checked_threads_per_row(const Executor &executor, const HostCsr &A, const int asked)
{
  const bool power_of_two = asked >= 0 && asked <= 32 && (asked & (asked - 1)) == 0;
  if (!power_of_two)
    throw ParameterError("A CSR row can be shared by 1, 2, 4, 8, 16 or 32 threads, not by " +
                         std::to_string(asked) + "; 0 chooses by the length of the rows.");
  if (executor.backend() == BackendKind::host)
    return 1;
  return asked > 0 ? asked : default_threads_per_row(A);
}
} // namespace

CsrMatrix::CsrMatrix(const ExecutorPtr &executor, const HostCsr &A, const int threads_per_row)
    : owner(executor), size(A.n),
      threads_per_row(checked_threads_per_row(*executor, A, threads_per_row)),
      row_starts(executor, A.row_starts, static_cast<std::size_t>(A.n) + 1),
      columns(executor, A.columns, A.n_nonzeros), values(executor, A.values, A.n_nonzeros)
{}

std::string CsrMatrix::format() const
{
  return "csr, " + std::to_string(threads_per_row) +
         (threads_per_row == 1 ? " thread a row" : " threads a row");
}

Matrix::View CsrMatrix::view() const
{
  const auto with_lanes = [&](auto lanes) {
    return CsrView<decltype(lanes)::value>{size, row_starts.data(), columns.data(), values.data()};
  };
  switch (threads_per_row) {
  case 1:
    return with_lanes(std::integral_constant<int, 1>());
  case 2:
    return with_lanes(std::integral_constant<int, 2>());
  case 4:
    return with_lanes(std::integral_constant<int, 4>());
  case 8:
    return with_lanes(std::integral_constant<int, 8>());
  case 16:
    return with_lanes(std::integral_constant<int, 16>());
  default:
    return with_lanes(std::integral_constant<int, 32>());
  }
}

void CsrMatrix::update_values(const double *host_values)
{
  values.copy_from_host(host_values);
}
} // namespace femgpu::linalg
