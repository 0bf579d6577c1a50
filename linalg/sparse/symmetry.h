#ifndef femgpu_linalg_sparse_symmetry_h
#define femgpu_linalg_sparse_symmetry_h

#include "linalg/sparse/row_pattern.h"

namespace femgpu::linalg
{
/// Whether there is (j, i) for every entry (i, j).
template <class Backend>
bool is_symmetric(const PatternRef &pattern);

/// The first row of A that differs from its column by more than rounding; -1: A is symmetric. Of a
/// part, ghosts are not looked at.
template <class Backend>
int first_unsymmetric_row(const CsrMatrix &A);
} // namespace femgpu::linalg

#endif
