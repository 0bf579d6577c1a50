#ifndef femgpu_linalg_operators_device_csr_h
#define femgpu_linalg_operators_device_csr_h

#include "linalg/base/unknowns.h"

#include <cstddef>

namespace femgpu::linalg
{
class Executor;

/// A view of a square CSR matrix in the memory of a device. Columns are in ascending order within
/// each row. Work that writes the arrays has finished, or precedes the steps of the executor
/// (Executor::wait_for()).
struct DeviceCsr
{
  int n = 0;
  std::size_t n_nonzeros = 0;      ///< at most max_indices
  const int *row_starts = nullptr; ///< n + 1 row starts
  const int *columns = nullptr;    ///< n_nonzeros columns
  const double *values = nullptr;  ///< n_nonzeros values

  UnknownsPtr unknowns = default_unknowns; ///< properties of the rows; never nullptr
};

/**
 * Throws InputError if @p A is not a valid CSR matrix, that is, if its row starts decrease, do not
 * begin with 0 or do not end with n_nonzeros, or if its columns are out of range or not ascending.
 * If a single row is invalid, the message gives its number. Reads the pattern once, on the device.
 */
void check_csr(const Executor &executor, const DeviceCsr &A);
} // namespace femgpu::linalg

#endif
