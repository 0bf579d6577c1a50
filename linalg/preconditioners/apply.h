#ifndef femgpu_linalg_preconditioners_apply_h
#define femgpu_linalg_preconditioners_apply_h

#include "linalg/execution/memory/buffer.h"
#include "linalg/preconditioners/preconditioner.h"

namespace femgpu::linalg
{
template <class Backend>
void apply_on(const Preconditioner &M, const Executor &executor, Buffer<double> &r,
              Buffer<double> &z);

/// z = M⁻¹r, by steps of its own, on the executor that M was set up on; waits for nothing.
/// Solvers fuse the action of M into their steps instead.
void apply(const Preconditioner &M, const Executor &executor, Buffer<double> &r, Buffer<double> &z);
} // namespace femgpu::linalg

#endif
