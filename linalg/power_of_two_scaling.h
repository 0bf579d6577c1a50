#ifndef femgpu_linalg_power_of_two_scaling_h
#define femgpu_linalg_power_of_two_scaling_h

#include "linalg/operators/row_space.h"
#include "linalg/solvers/report.h"

#include <vector>

namespace femgpu::linalg
{
/**
 * Scales the right-hand side and initial guess of A x = b by a power of two if squares of b's
 * entries would overflow, or underflow to zero so that b appears to be 0. Otherwise nothing is
 * copied. Except for numbers out of range, the solution has bitwise the same mantissas as for a b
 * of normal size.
 */
class PowerOfTwoScaling
{
public:
  /// Returns whether @p b, with n elements, needs scaling.
  static bool is_needed(int n, const double *b);

  /// @param b n elements
  /// @param x n elements: the initial guess, and after restore() the solution
  /// @param communicator connects the ranks if rows are distributed; nullptr: all rows are on this
  /// rank
  PowerOfTwoScaling(int n, const double *b, double *x, const Communicator *communicator = nullptr);

  const double *b() const
  {
    return exponent == 0 ? original_b : scaled_b.data();
  }
  double *x()
  {
    return exponent == 0 ? original_x : scaled_x.data();
  }
  /// Returns @p original with its absolute tolerances and its progress callback converted to the
  /// scaled units.
  SolveControl control(SolveControl original) const;

  /// Converts the solution and the norms of @p report to the original units.
  void restore(SolveReport &report) const;
  /// Converts a norm to the original units.
  double restored(double norm) const;

private:
  int exponent;
  const double *original_b;
  double *original_x;
  std::vector<double> scaled_b, scaled_x;
};
} // namespace femgpu::linalg

#endif
