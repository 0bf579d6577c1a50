#ifndef femgpu_linalg_matrices_csr_matrix_h
#define femgpu_linalg_matrices_csr_matrix_h

#include "linalg/base/buffer.h"
#include "linalg/matrices/host_matrix.h"
#include "linalg/matrices/matrix.h"

namespace femgpu::linalg
{
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
