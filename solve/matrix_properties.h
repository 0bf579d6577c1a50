#ifndef femgpu_solve_matrix_properties_h
#define femgpu_solve_matrix_properties_h

#include "linalg/base/host_matrix.h"
#include "linalg/method_plan.h"

#include <string>

namespace femgpu
{
/**
 * Describes the first entry, in row order, with |a_ij - a_ji| > 1e-12 max |a|: "entry (1, 2) is 1
 * and (2, 1) is 0.5". Returns an empty string if @p A is symmetric. Takes O(nnz log(row length))
 * time; the result does not depend on the number of threads.
 */
std::string asymmetry(const linalg::HostCsr &A);

using linalg::DiagonalSigns;

/// Counts the zero and negative diagonal entries.
/// @param first the column of the diagonal entry in row 0
DiagonalSigns diagonal_signs(const linalg::HostCsr &A, int first = 0);

/// Statistics of the number of entries per row.
struct RowLengths
{
  int min = 0, max = 0;
  double mean = 0.;
};

RowLengths row_lengths(const linalg::HostCsr &A);
} // namespace femgpu

#endif
