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
 * The action of M⁻¹ ≈ A⁻¹. Where it is a function of the row alone it is fused into the steps of
 * the solver; else it is an operator for product steps.
 */
class Preconditioner
{
public:
  using Action = std::variant<DiagonalView, const PreconditionerOperator *>;

  virtual ~Preconditioner() = default;

  /// Prepares for @p A, whose pattern may be new. @throws SolverError if A has no such M.
  virtual void setup(const Matrix &A) = 0;

  /// Prepares for new values in the pattern that setup() has seen. After an exception from here or
  /// from setup() the next call must be setup().
  virtual void update(const Matrix &A) = 0;

  virtual Action action() const = 0;
  virtual SetupReport setup_report() const = 0;
  /// Is M symmetric? Before setup(): for a symmetric A.
  virtual bool is_symmetric() const = 0;
  virtual std::string name() const = 0;
  virtual std::size_t bytes() const = 0; ///< that one application reads of M
};
} // namespace femgpu::linalg

#endif
