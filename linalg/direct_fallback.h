#ifndef femgpu_linalg_direct_fallback_h
#define femgpu_linalg_direct_fallback_h

#include "linalg/base/host_matrix.h"
#include "linalg/memory/executor.h"
#include "linalg/solvers/report.h"

#include <string>

namespace femgpu::linalg
{
/// The maximum number of rows for which programs fall back to the direct solver. For 3D elasticity
/// of degree 2, one core needs 2.2 s and 0.7 GB for 38,000 rows of a body one cell thick, 4.2 s for
/// 54,000 rows of such a body, and 92 s and 2.8 GB for 82,000 rows of a body four cells thick.
constexpr int max_fallback_rows = 50000;

/// Returns whether programs fall back to the direct solver for systems of @p n rows.
bool permits_fallback(long long n);

/// Returns @p backend or, for a direct solver and backend `auto`, the host, where a direct solver
/// needs no other library.
std::string backend_for(const std::string &solver, const std::string &backend);

/// Solves A x = b by the direct solver of @p executor or, if this solver is unavailable or fails,
/// by that of the host.
/// @throws the exceptions of LinearSolver on the host
SolveReport solve_direct(const ExecutorPtr &executor, const HostCsr &A, const double *b, double *x,
                         const SolveControl &control);
} // namespace femgpu::linalg

#endif
