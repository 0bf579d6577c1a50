#ifndef femgpu_linalg_sparse_gather_rows_h
#define femgpu_linalg_sparse_gather_rows_h

#include "linalg/execution/memory/buffer.h"

namespace femgpu::linalg
{
/// to_k = v_rows(k), in order with the steps.
template <class Backend>
void gather_rows(const Executor &executor, const double *v, const Buffer<int> &rows,
                 Buffer<double> &to);
/// v_rows(k) += from_k, in order with the steps; rows are different.
template <class Backend>
void add_to_rows(const Executor &executor, const double *from, const int *rows, int n, double *v);
} // namespace femgpu::linalg

#endif
