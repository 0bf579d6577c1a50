#ifndef femgpu_linalg_sparse_symmetry_h
#define femgpu_linalg_sparse_symmetry_h

#include "linalg/sparse/row_pattern.h"

namespace femgpu::linalg
{
/// Whether there is (j, i) for every entry (i, j).
template <class Backend>
bool is_symmetric(const PatternRef &pattern);

/// The first row of A that differs from its column by more than rounding; -1: A is symmetric.
/// Entries in ghost columns of a part are not compared.
template <class Backend>
int first_unsymmetric_row(const CsrMatrix &A);

/// Whether A equals its transpose up to rounding, across all parts. Is called by all parts, which
/// get the same answer.
template <class Backend>
bool equals_transpose(const CsrMatrix &A);
} // namespace femgpu::linalg

#endif
