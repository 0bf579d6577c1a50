#ifndef femgpu_linalg_solvers_backward_error_h
#define femgpu_linalg_solvers_backward_error_h

#include "linalg/operators/row_space.h"
#include "linalg/steps/views.h"

namespace femgpu::linalg
{
/// How well x solves A x = b. Norms are Euclidean.
struct SystemNorms
{
  double residual = 0.; ///< ‖b − A x‖
  double rhs = 0.;      ///< ‖b‖
  double scale = 0.;    ///< ‖ |A||x| + |b| ‖, what the residual was subtracted from
  /// The componentwise backward error max_i |b − A x|_i / (|A||x| + |b|)_i (Oettli and Prager
  /// 1964): x solves a system each of whose entries differs from the given one by at most this part
  /// of itself. Unlike backward_error() it does not depend on how rows are scaled.
  double componentwise = 0.;

  /// The backward error ω = ‖b − A x‖ / ‖ |A||x| + |b| ‖ (after Oettli and Prager 1964; Arioli,
  /// Duff and Ruiz 1992): x solves a system whose entries differ from these by about ω. 0 for x = b
  /// = 0.
  double backward_error() const
  {
    return scale > 0. ? residual / scale : 0.;
  }
};

/// What was measured of a system.
struct MeasuredSystem
{
  CsrView<double> A;
  const double *b, *x; ///< n, with A in the memory of one executor
  double *r;           ///< n, gets b − A x; nullptr: not wanted
};

template <class Backend>
SystemNorms measure_on(const RowSpace &space, const MeasuredSystem &system);

/// By one pass over A; waits for the result.
SystemNorms measure(const RowSpace &space, const MeasuredSystem &system);
} // namespace femgpu::linalg

#endif
