#include "linalg/execution/this_backend.h"
#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/registry.h"

namespace femgpu::linalg
{
namespace
{
/// No preconditioning.
class Identity final : public ReportedPreconditioner
{
public:
  explicit Identity(const Method &method) : ReportedPreconditioner(method, true)
  {}
  void setup(const Matrix & /* A */) override
  {}
  Action action() const override
  {
    return DiagonalView();
  }
  std::size_t bytes() const override
  {
    return 0;
  }
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class IdentityPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<Identity>(method);
}
} // namespace femgpu::linalg
