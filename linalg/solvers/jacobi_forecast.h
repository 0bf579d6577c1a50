#ifndef femgpu_linalg_solvers_jacobi_forecast_h
#define femgpu_linalg_solvers_jacobi_forecast_h

#include "linalg/execution/backends.h"
#include "linalg/operators/matrix.h"

#include <string>

namespace femgpu::linalg
{
/**
 * The expected number of iterations of conjugate gradients with Jacobi, from data that are the same
 * in every run: a choice by measured time would change results from run to run. "The next
 * preconditioner" is the one that would replace Jacobi in PreconditionedSolver.
 */
struct JacobiForecast
{
  /// Number of Jacobi iterations that cost as much as set-up and solve with the next
  /// preconditioner.
  int max_jacobi_iterations = 0;
  /// Number of Jacobi iterations that cost as much as updating the next preconditioner for new
  /// values in the same pattern, and solving.
  int update_iterations = 0;
  /// Number of iterations until the residual is 1e-8; 0 if Unknowns::nodes_along_body is unknown.
  /// The smallest eigenvalue of D⁻¹A belongs to a mode that extends across the whole body, so that
  /// iterations are proportional to the number of nodes along its longest side: 1.5 to 3.5 times
  /// that number for scalar problems on cubes, squares and L-shapes, 6 to 22 times for elasticity,
  /// more for thin bodies.
  double iterations = 0.;
  /// Ratio of the largest to the smallest diagonal entry; 1 if `iterations` is 0. High material
  /// contrasts cause slow modes, which error estimates miss with Jacobi.
  double contrast = 1.;

  /// Whether the next preconditioner is fsai rather than multigrid: many off-diagonal entries have
  /// the sign of the diagonal and coordinates of the unknowns are unavailable, as for structures
  /// from files, for which multigrid lacks the rigid-body modes.
  bool fsai_is_next = false;

  /// Returns why multigrid is chosen immediately; empty if Jacobi is tried first.
  std::string reason_for_multigrid() const;
};

/// Forecasts the iterations with Jacobi. Collective over all ranks. max_jacobi_iterations is fitted
/// to measurements (docs/appendix_multigrid.md).
JacobiForecast forecast_jacobi(const Matrix &A, BackendKind backend);
} // namespace femgpu::linalg

#endif
