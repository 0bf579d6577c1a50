#ifndef femgpu_linalg_solvers_solver_h
#define femgpu_linalg_solvers_solver_h

#include "linalg/base/error.h"
#include "linalg/memory/buffer.h"
#include "linalg/operators/matrix.h"
#include "linalg/preconditioners/preconditioner.h"
#include "linalg/solvers/report.h"

#include <memory>

namespace femgpu::linalg
{
class BatchMethod;
class BlockMethod;

/// A method that solves A x = b.
class Solver
{
public:
  virtual ~Solver() = default;

  /**
   * Sets up what all solves with the current @p A and @p M share, such as matrix powers; each solve
   * creates what has not been set up. Must be called again when A or M has changed, with @p
   * only_values if the pattern of A has not changed.
   * @throws the exceptions of solve()
   */
  virtual void set_up(const Matrix & /*A*/, const Preconditioner & /*M*/, bool /*only_values*/)
  {}

  /**
   * Solves A x = b. All operands are in the memory of A's executor and have A.n() rows.
   * @param x contains the initial guess. Receives, whatever the outcome, the best iterate: the one
   * with the smallest true residual among the guess and the iterates at which the method restarted
   * or ended (see RestartPolicy). Its row space is A's domain, with memory for ghosts.
   * @throws ParameterError if the method cannot use this kind of @p M
   * @throws DeviceError if memory is insufficient. Any other failure is an outcome in the report.
   */
  virtual SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                            Buffer<double> &x, const SolveControl &control) const = 0;

  /// Returns the form of the method that solves many systems together; nullptr if there is none.
  virtual std::shared_ptr<const BatchMethod> batch() const
  {
    return nullptr;
  }

  /// Returns the form of the method that solves several right-hand sides of one matrix together;
  /// nullptr if there is none.
  virtual std::shared_ptr<const BlockMethod> block() const
  {
    return nullptr;
  }
};

/// Checks that M is symmetric, as @p solver requires.
/// @throws ParameterError if it is not
inline void require_symmetric(const std::string &solver, const Preconditioner &M)
{
  if (!M.is_symmetric())
    throw ParameterError("Solver '" + solver + "' needs a symmetric preconditioner, but '" +
                         M.name() + "' is not symmetric. Use another preconditioner or solver.");
}
} // namespace femgpu::linalg

#endif
