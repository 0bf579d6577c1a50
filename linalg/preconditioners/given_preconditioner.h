#ifndef femgpu_linalg_preconditioners_given_preconditioner_h
#define femgpu_linalg_preconditioners_given_preconditioner_h

#include "linalg/operators/stored_operator.h"
#include "linalg/preconditioners/operator_preconditioner.h"

#include <memory>
#include <utility>

namespace femgpu::linalg
{
/// A preconditioner whose inverse M⁻¹ the caller applies.
class GivenPreconditioner final : public ReportedPreconditioner
{
public:
  GivenPreconditioner(std::shared_ptr<const LinearOperator> inverse_, const bool is_symmetric)
      : ReportedPreconditioner("given", is_symmetric), inverse(std::move(inverse_))
  {}

  void setup(const Matrix &A) override
  {
    if (A.n() != inverse.n())
      throw SolverError("The given preconditioner has " + std::to_string(inverse.n()) +
                        " rows, but the matrix has " + std::to_string(A.n()) + ".");
  }
  Action action() const override
  {
    return &inverse;
  }
  std::size_t bytes() const override
  {
    return 0;
  }

private:
  StoredOperator<PreconditionerOperator> inverse;
};
} // namespace femgpu::linalg

#endif
