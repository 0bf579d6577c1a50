#ifndef femgpu_linalg_solvers_backward_error_h
#define femgpu_linalg_solvers_backward_error_h

#include "linalg/operators/row_space.h"
#include "linalg/steps/views.h"

namespace femgpu::linalg
{
/// Measures of how well x solves A x = b. Norms are Euclidean.
struct SystemNorms
{
  double residual = 0.; ///< ‖b − A x‖
  double rhs = 0.;      ///< ‖b‖
  double scale = 0.;    ///< ‖ |A||x| + |b| ‖, the reference for backward_error()
  /// The componentwise backward error max_i |b − A x|_i / (|A||x| + |b|)_i (Oettli and Prager
  /// 1964): x is the exact solution of a system whose entries each differ from those of A and b by
  /// at most this relative amount. Unlike backward_error(), it does not depend on row scaling.
  double componentwise = 0.;

  /// Returns the backward error ω = ‖b − A x‖ / ‖ |A||x| + |b| ‖ (after Oettli and Prager 1964;
  /// Arioli, Duff and Ruiz 1992): x is the exact solution of a system whose entries differ from
  /// those of A and b by about ω. Returns 0 for x = b = 0.
  double backward_error() const
  {
    return scale > 0. ? residual / scale : 0.;
  }
};

/// The system of which measure() computes the norms, and memory for its residual.
struct MeasuredSystem
{
  CsrView<double> A;
  const double *b, *x; ///< n numbers each, in the memory of A's executor
  double *r;           ///< receives the n numbers b − A x; nullptr: not needed
};

template <class Backend>
SystemNorms measure_on(const RowSpace &space, const MeasuredSystem &system);

/// Computes the norms of @p system in one pass over A, and waits for the result.
SystemNorms measure(const RowSpace &space, const MeasuredSystem &system);
} // namespace femgpu::linalg

#endif
