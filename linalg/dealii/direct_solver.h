#ifndef femgpu_linalg_dealii_direct_solver_h
#define femgpu_linalg_dealii_direct_solver_h

#include "linalg/operators/csr_matrix.h"
#include "linalg/solvers/report.h"

namespace femgpu::linalg
{
/**
 * Solves A x = b by deal.II's interface to UMFPACK, on one core, and recomputes the residual.
 * Use: reference solutions and small systems; in 3D the factors outgrow the memory at some 1e5
 * rows. Fails: outcome breakdown for a singular matrix. @throws DeviceError without memory.
 */
SolveReport solve_direct(const HostCsr &A, const double *b, double *x, const SolveControl &control);
} // namespace femgpu::linalg

#endif
