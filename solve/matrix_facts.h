#ifndef femgpu_solve_matrix_facts_h
#define femgpu_solve_matrix_facts_h

#include "linalg/base/host_matrix.h"

#include <string>

namespace femgpu
{
/**
 * Names the first entry in the order of the rows with |a_ij - a_ji| > 1e-12 max |a| and the one
 * across the diagonal: "entry (1, 2) is 1 and (2, 1) is 0.5". Returns nothing if @p A is symmetric.
 * Reads all of A; the result is the same for any number of threads.
 */
std::string asymmetry(const linalg::HostCsr &A);

/// The signs of the diagonal entries; those that are missing are zeros.
struct DiagonalSigns
{
  long long n_zeros = 0, n_negative = 0;

  bool are_positive() const
  {
    return n_zeros == 0 && n_negative == 0;
  }
};

/// @param first the column of the diagonal in row 0
DiagonalSigns diagonal_signs(const linalg::HostCsr &A, int first = 0);

/// Is there a row without entries but zeros?
bool has_zero_row(const linalg::HostCsr &A);

/// Entries of a row.
struct RowLengths
{
  int min = 0, max = 0;
  double mean = 0.;
};

RowLengths row_lengths(const linalg::HostCsr &A);
} // namespace femgpu

#endif
