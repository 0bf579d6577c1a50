#ifndef femgpu_linalg_sparse_symmetry_h
#define femgpu_linalg_sparse_symmetry_h

#include "linalg/sparse/row_pattern.h"

namespace femgpu::linalg
{
/// Returns whether there is an entry (j, i) for every entry (i, j).
template <class Backend>
bool is_symmetric(const PatternRef &pattern);

/// Returns the first i for which row i and column i of A differ by more than rounding; -1 if A is
/// symmetric. Entries in ghost columns are not compared.
template <class Backend>
int first_unsymmetric_row(const CsrMatrix &A);

/// Returns whether A equals its transpose up to rounding, on all ranks. Collective; all ranks get
/// the same answer.
template <class Backend>
bool equals_transpose(const CsrMatrix &A);
} // namespace femgpu::linalg

#endif
