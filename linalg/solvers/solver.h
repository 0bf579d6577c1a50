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

/// A method for A x = b.
class Solver
{
public:
  virtual ~Solver() = default;

  /**
   * Makes what all solves with @p A and @p M as they are now share (matrix powers), for a method
   * that has such things; what is not set up so is made in each solve. Has to be called again when
   * A or M have changed, with @p only_values if the pattern of A has not. @throws as solve()
   */
  virtual void set_up(const Matrix & /*A*/, const Preconditioner & /*M*/, bool /*only_values*/)
  {}

  /**
   * Solves A x = b. All operands are in the memory of A's executor and have A.n() rows.
   * @param x the initial guess; at the end the last iterate, whatever the outcome; of A's domain,
   *        with memory for ghosts
   * @throws ParameterError if @p M is of a kind that the method cannot use; DeviceError without
   *         memory for the method's vectors. Everything else is an outcome of the report.
   */
  virtual SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                            Buffer<double> &x, const SolveControl &control) const = 0;

  /// The way to solve many systems together; nullptr for a method that has none.
  virtual std::shared_ptr<const BatchMethod> batch() const
  {
    return nullptr;
  }
};

/// @throws ParameterError unless M is symmetric, as the conjugate gradients of @p solver need it.
inline void require_symmetric(const std::string &solver, const Preconditioner &M)
{
  if (!M.is_symmetric())
    throw ParameterError("Solver '" + solver + "' needs a symmetric preconditioner, and '" +
                         M.name() + "' is not. Choose another preconditioner or solver.");
}
} // namespace femgpu::linalg

#endif
