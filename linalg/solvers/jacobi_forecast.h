#ifndef femgpu_linalg_solvers_jacobi_forecast_h
#define femgpu_linalg_solvers_jacobi_forecast_h

#include "linalg/execution/backends.h"
#include "linalg/operators/matrix.h"

#include <string>

namespace femgpu::linalg
{
/**
 * Expected iterations of conjugate gradients with Jacobi, by facts that are the same in every run:
 * a choice by measured seconds would change results from run to run.
 */
struct JacobiForecast
{
  /// Iterations that take as long as set-up and solve with the preconditioner that comes next.
  int patience = 0;
  /// Iterations that take as long as its set-up and solve for new values of a known pattern.
  int of_an_update = 0;
  /// Iterations to a residual of 1e-8; 0 if Unknowns::nodes_along_body is not known. The smallest
  /// eigenvalue of D⁻¹A is that of a motion across the whole body, so that iterations are
  /// proportional to the number of nodes along its longest side: 1.5 to 3.5 times as many for
  /// scalar problems on cubes, squares and L-shapes, 6 to 22 for elasticity, more for thin bodies.
  double iterations = 0.;
  /// Largest over smallest entry of the diagonal; 1 if the iterations are not known. Materials that
  /// differ much have slow motions, which estimates of the error do not see with Jacobi.
  double contrast = 1.;

  /// The preconditioner that comes next is fsai, and not multigrid: many off-diagonal entries have
  /// the sign of the diagonal and the places of the unknowns are not known, as for structures from
  /// files, whose rigid-body motions multigrid does not know.
  bool fsai_is_next = false;

  /// Returns why multigrid is taken at once; empty: Jacobi is taken.
  std::string reason_for_multigrid() const;
};

/// Collective over the parts of @p A. The patience is fitted to measurements (docs/solvers.md).
JacobiForecast forecast_jacobi(const Matrix &A, BackendKind backend);
} // namespace femgpu::linalg

#endif
