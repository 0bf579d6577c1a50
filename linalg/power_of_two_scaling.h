#ifndef femgpu_linalg_power_of_two_scaling_h
#define femgpu_linalg_power_of_two_scaling_h

#include "linalg/operators/vector.h"
#include "linalg/solvers/report.h"

namespace femgpu::linalg
{
/**
 * Scales the right-hand side and initial guess of A x = b by a power of two if squares of b's
 * entries would overflow, or underflow to zero so that b appears to be 0. Except for numbers out of
 * range, the solution has bitwise the same mantissas as for a b of normal size.
 */
class PowerOfTwoScaling
{
public:
  /// Returns whether @p b, with n elements in host memory, needs scaling.
  static bool is_needed(int n, const double *b);

  /// @param b n elements in host memory
  /// @param communicator connects the ranks if rows are distributed; nullptr: all rows are on this
  /// rank
  PowerOfTwoScaling(int n, const double *b, const Communicator *communicator = nullptr);

  /// @param b in the memory of any executor; is copied to the host only if its norm is near the
  /// limits
  explicit PowerOfTwoScaling(const Vector<double> &b);

  /// Returns whether nothing needs scaling.
  bool is_identity() const
  {
    return exponent == 0;
  }

  /// Converts a right-hand side or an initial guess to the scaled units.
  void scale(Vector<double> &v) const;
  /// Converts a solution to the original units.
  void restore(Vector<double> &v) const;

  /// Returns @p original with its absolute tolerances and its progress callback converted to the
  /// scaled units.
  SolveControl control(SolveControl original) const;

  /// Converts the norms of @p report to the original units.
  void restore(SolveReport &report) const;
  /// Converts a norm to the original units.
  double restored(double norm) const;

private:
  int exponent;
};
} // namespace femgpu::linalg

#endif
