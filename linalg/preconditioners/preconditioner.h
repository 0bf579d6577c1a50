#ifndef femgpu_linalg_preconditioners_preconditioner_h
#define femgpu_linalg_preconditioners_preconditioner_h

#include "linalg/operators/matrix.h"
#include "linalg/preconditioners/setup_report.h"
#include "linalg/steps/diagonal_view.h"

#include <cstddef>
#include <memory>
#include <string>
#include <variant>

namespace femgpu::linalg
{
/**
 * A preconditioner M⁻¹ ≈ A⁻¹. A diagonal M⁻¹ is fused into the kernels of the solver; any other M⁻¹
 * is an operator for product steps (linalg/steps/steps.h).
 */
class Preconditioner
{
public:
  using Action = std::variant<DiagonalView, const PreconditionerOperator *>;

  virtual ~Preconditioner() = default;

  /// Sets up M for @p A, whose pattern may be new.
  /// @throws SolverError if this M does not exist for A
  virtual void setup(const Matrix &A) = 0;

  /// Sets up M for new values of A in the pattern of the last setup(). After an exception of
  /// update() or setup(), the next call must be setup().
  virtual void update(const Matrix &A) = 0;

  virtual Action action() const = 0;
  virtual SetupReport setup_report() const = 0;
  /// Returns whether M is symmetric; before setup(), whether M would be symmetric for a symmetric
  /// A.
  virtual bool is_symmetric() const = 0;
  virtual std::string name() const = 0;
  virtual std::size_t bytes() const = 0; ///< bytes that one application reads
};
} // namespace femgpu::linalg

#endif
