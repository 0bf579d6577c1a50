#ifndef femgpu_linalg_preconditioners_operator_preconditioner_h
#define femgpu_linalg_preconditioners_operator_preconditioner_h

#include "linalg/base/method.h"
#include "linalg/preconditioners/preconditioner.h"

#include <memory>
#include <string>
#include <utility>

namespace femgpu::linalg
{
/// A preconditioner that stores its name, its symmetry and the report of setup().
class ReportedPreconditioner : public Preconditioner
{
public:
  /// Repeats setup(), for preconditioners whose pattern depends on the values.
  void update(const Matrix &A) override
  {
    setup(A);
  }
  SetupReport setup_report() const final
  {
    return report;
  }
  bool is_symmetric() const final
  {
    return preserves_symmetry;
  }
  std::string name() const final
  {
    return kind;
  }

protected:
  ReportedPreconditioner(const Method &method, const bool preserves_symmetry)
      : ReportedPreconditioner(method.name(), preserves_symmetry)
  {}
  ReportedPreconditioner(std::string name, const bool preserves_symmetry)
      : kind(std::move(name)), preserves_symmetry(preserves_symmetry)
  {}

  const std::string kind;
  bool preserves_symmetry;
  SetupReport report;
};

/// A preconditioner whose action is an operator that setup() makes.
template <class Operator>
class OperatorPreconditioner : public ReportedPreconditioner
{
public:
  Action action() const final
  {
    return inverse.get();
  }
  std::size_t bytes() const final
  {
    return inverse->bytes();
  }

protected:
  using ReportedPreconditioner::ReportedPreconditioner;

  std::unique_ptr<Operator> inverse;
};
} // namespace femgpu::linalg

#endif
