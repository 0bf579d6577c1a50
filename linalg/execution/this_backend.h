#ifndef femgpu_linalg_execution_this_backend_h
#define femgpu_linalg_execution_this_backend_h

/**
 * @file
 * Chooses the backend a source file is compiled for. Files of solvers, preconditioners, formats and
 * sparse algebra are compiled twice (see linalg/CMakeLists.txt): by the C++ compiler for the host
 * and by nvcc for CUDA. ThisBackend is the backend of the current compilation; the program selects
 * a backend at run time (backends.h).
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
