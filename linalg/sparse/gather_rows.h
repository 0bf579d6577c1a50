#ifndef femgpu_linalg_sparse_gather_rows_h
#define femgpu_linalg_sparse_gather_rows_h

#include "linalg/execution/memory/buffer.h"
#include "linalg/execution/steps/steps.h"

#include <functional>

namespace femgpu::linalg
{
/// Calls @p work with a runner whose steps come behind all others of @p executor.
template <class Backend>
void with_runner(const Executor &executor, const std::function<void(StepRunner &)> &work);
/// to_k = v_rows(k).
template <class Backend>
void gather_rows(StepRunner &runner, const double *v, const Buffer<int> &rows, Buffer<double> &to);
/// v_rows(k) += from_k; rows are different.
template <class Backend>
void add_to_rows(StepRunner &runner, const double *from, const int *rows, int n, double *v);
} // namespace femgpu::linalg

#endif
