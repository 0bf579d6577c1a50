#ifndef femgpu_linalg_sparse_gather_rows_h
#define femgpu_linalg_sparse_gather_rows_h

#include "linalg/execution/memory/buffer.h"

namespace femgpu::linalg
{
/// to_k = v_rows(k), in order with the steps.
template <class Backend>
void gather_rows(const Executor &executor, const double *v, const Buffer<int> &rows,
                 Buffer<double> &to);
} // namespace femgpu::linalg

#endif
