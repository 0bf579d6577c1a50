#ifndef femgpu_linalg_solvers_block_method_h
#define femgpu_linalg_solvers_block_method_h

#include "linalg/operators/multi_vector.h"
#include "linalg/solvers/solver.h"

#include <vector>

namespace femgpu::linalg
{
/// The form of a method that solves A X = B for several right-hand sides together.
class BlockMethod
{
public:
  /// Maximum number of right-hand sides of a block.
  static constexpr int max_columns = 32;

  virtual ~BlockMethod() = default;

  /**
   * Solves A X = B. The columns of X contain initial guesses and receive, whatever the outcome, the
   * best iterate of each column; the space of X is A's domain. Returns a report for each column;
   * the first one contains the seconds of all columns.
   * @throws the exceptions of Solver::solve()
   */
  virtual std::vector<SolveReport> solve(const Matrix &A, const Preconditioner &M,
                                         const MultiVector<double> &B, MultiVector<double> &X,
                                         const SolveControl &control) const = 0;
};
} // namespace femgpu::linalg

#endif
