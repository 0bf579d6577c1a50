#ifndef femgpu_linalg_matrices_csr_matrix_h
#define femgpu_linalg_matrices_csr_matrix_h

#include "linalg/base/buffer.h"
#include "linalg/matrices/matrix.h"

namespace femgpu::linalg
{
/**
 * A square CSR matrix in host memory that somebody else owns: what formats are built from.
 * Columns ascend within each row.
 */
struct HostCsr
{
  int n = 0;
  std::size_t n_nonzeros = 0;
  const int *row_starts = nullptr; ///< n+1
  const int *columns = nullptr;    ///< n_nonzeros
  const double *values = nullptr;  ///< n_nonzeros
};

/**
 * Throws InputError that names the row if @p A is no CSR matrix: row starts that do not begin at 0,
 * fall, or do not end at n_nonzeros; columns out of range or not ascending. Reads all of A once.
 */
void check_csr(const HostCsr &A);

/// CSR with 1, 2, 4, 8, 16 or 32 threads a row.
class CsrMatrix final : public Matrix
{
public:
  /**
   * Copies @p A to the memory of @p executor.
   * @param threads_per_row 0 chooses from the mean row length; the host always takes 1.
   * @throws ParameterError for any other number of threads; DeviceError without enough memory.
   */
  CsrMatrix(const ExecutorPtr &executor, const HostCsr &A, int threads_per_row = 0);

  int n() const override
  {
    return size;
  }
  std::size_t n_nonzeros() const override
  {
    return columns.size();
  }
  std::size_t bytes() const override
  {
    return row_starts.bytes() + columns.bytes() + values.bytes();
  }
  ExecutorPtr executor() const override
  {
    return owner;
  }
  std::string format() const override;
  View view() const override;
  void update_values(const double *host_values) override;

private:
  ExecutorPtr owner;
  int size;
  int threads_per_row;
  Buffer<int> row_starts;
  Buffer<int> columns;
  Buffer<double> values;
};
} // namespace femgpu::linalg

#endif
