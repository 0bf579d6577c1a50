#ifndef femgpu_linalg_execution_this_backend_h
#define femgpu_linalg_execution_this_backend_h

/**
 * @file
 * The one place that chooses the backend a source file is compiled for. The files in
 * linalg/solvers and linalg/preconditioners are compiled twice: by the C++ compiler for the host
 * and by nvcc for CUDA; ThisBackend is what this pass makes, and what the program chooses between
 * when it runs (backends.h).
 */
#ifdef __CUDACC__
#include "linalg/execution/cuda/iteration/iteration.cuh"
#include "linalg/execution/cuda/on_chip/batch.cuh"
#else
#include "linalg/execution/host/batch.h"
#include "linalg/execution/host/iteration.h"
#endif

namespace femgpu::linalg
{
#ifdef __CUDACC__
using ThisBackend = CudaBackend;
#else
using ThisBackend = HostBackend;
struct CudaBackend;
#endif
} // namespace femgpu::linalg

#endif
