#ifndef femgpu_linalg_vector_units_h
#define femgpu_linalg_vector_units_h

#include "linalg/operators/row_space.h"
#include "linalg/solvers/report.h"

#include <vector>

namespace femgpu::linalg
{
/**
 * Right-hand side and guess of A x = b in units of a power of two, where the squares of b's entries
 * would overflow, or underflow to zero and be taken for b = 0. In ordinary units nothing is copied.
 * The solution is that of a b of ordinary size to the last bit, but for numbers beyond the range.
 */
class VectorUnits
{
public:
  /// Is @p b, n elements, beyond ordinary units?
  static bool are_needed(int n, const double *b);

  /// @param b n elements; @param x n elements, the guess, and after restore() the solution
  /// @param communicator of a part, whose b is one of several; nullptr: there is one
  VectorUnits(int n, const double *b, double *x, const Communicator *communicator = nullptr);

  const double *b() const
  {
    return exponent == 0 ? given_b : scaled_b.data();
  }
  double *x()
  {
    return exponent == 0 ? given_x : scaled_x.data();
  }
  /// Absolute tolerance and progress in these units.
  SolveControl control(SolveControl given) const;

  /// The solution and what @p report says of it as they were given.
  void restore(SolveReport &report) const;
  /// The same for a norm.
  double restored(double norm) const;

private:
  int exponent;
  const double *given_b;
  double *given_x;
  std::vector<double> scaled_b, scaled_x;
};
} // namespace femgpu::linalg

#endif
