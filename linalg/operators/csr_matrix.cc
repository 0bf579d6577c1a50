#include "linalg/operators/csr_matrix.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace femgpu::linalg
{
namespace
{
RowSpacePtr make_space(const ExecutorPtr &executor, const int n)
{
  return std::make_shared<RowSpace>(executor, n);
}

int n_rows(const Buffer<int> &row_starts)
{
  return static_cast<int>(row_starts.size()) - 1;
}
} // namespace

CsrMatrix::CsrMatrix(const RowSpacePtr &range, const RowSpacePtr &domain, const HostCsr &A,
                     const MemoryLocation location)
    : Matrix(range, domain), row_unknowns(A.unknowns),
      row_starts(executor(), A.row_starts.low, static_cast<std::size_t>(A.n) + 1, location),
      starts(A.row_starts), columns(executor(), A.columns, A.n_nonzeros, location),
      values(executor(), A.n_nonzeros, location)
{
  if (A.values != nullptr)
    update_values(A.values);
}

CsrMatrix::CsrMatrix(const RowSpacePtr &range, const RowSpacePtr &domain, Buffer<int> &&row_starts,
                     Buffer<int> &&columns, Buffer<double> &&values)
    : Matrix(range, domain), row_starts(std::move(row_starts)), columns(std::move(columns)),
      values(std::move(values))
{}

CsrMatrix::CsrMatrix(const ExecutorPtr &executor, const HostCsr &A)
    : CsrMatrix(make_space(executor, A.n), nullptr, A)
{}

CsrMatrix::CsrMatrix(const ExecutorPtr &executor, const int n_columns, Buffer<int> row_starts,
                     Buffer<int> columns, Buffer<double> values)
    : CsrMatrix(make_space(executor, n_rows(row_starts)), make_space(executor, n_columns),
                std::move(row_starts), std::move(columns), std::move(values))
{}

CsrMatrix CsrMatrix::copy() const
{
  CsrMatrix result(range(), domain(), row_starts.copy(), columns.copy(), values.copy());
  result.starts = starts;
  result.row_unknowns = row_unknowns;
  return result;
}

void CsrMatrix::copy_values_from(const CsrMatrix &other)
{
  values.copy_from(other.values);
}

double CsrMatrix::value_precision() const
{
  return std::numeric_limits<double>::epsilon();
}

CsrView<double> CsrMatrix::csr_view() const
{
  const double mean_length = n() > 0 ? static_cast<double>(n_nonzeros()) / n() : 0.;
  return {n(), threads_for_rows(*executor(), mean_length), starts.rebased(row_starts.data()),
          columns.data(), values.data()};
}

int CsrMatrix::longest_row() const
{
  if (longest >= 0)
    return longest;
  const std::vector<int> lengths = host_row_lengths();
  longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  return longest;
}

std::vector<int> CsrMatrix::host_row_lengths() const
{
  const std::vector<int> low = row_starts.to_host();
  const RowStarts on_host = starts.rebased(low.data());
  std::vector<int> lengths(static_cast<std::size_t>(n()));
  for (int i = 0; i < n(); ++i)
    lengths[i] = on_host.length(i);
  return lengths;
}

void CsrMatrix::update_values(const double *host_values)
{
  values.copy_from_host(host_values);
}

int threads_for_rows(const Executor &executor, const double mean_length)
{
  // This number keeps enough loads in flight and coalesces the reads of values and columns.
  int threads = 1;
  while (executor.backend() != BackendKind::host && threads < 32 && 8 * threads <= mean_length)
    threads *= 2;
  return threads;
}
} // namespace femgpu::linalg
