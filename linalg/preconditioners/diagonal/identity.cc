#include "linalg/execution/this_backend.h"
#include "linalg/preconditioners/registry.h"

namespace femgpu::linalg
{
namespace
{
/// No preconditioning.
class Identity final : public Preconditioner
{
public:
  void setup(const Matrix & /* A */) override
  {}
  void update(const Matrix & /* A */) override
  {}
  Action action() const override
  {
    return DiagonalView();
  }
  SetupReport setup_report() const override
  {
    return {};
  }
  bool is_symmetric() const override
  {
    return true;
  }
  std::string name() const override
  {
    return "identity";
  }
  std::size_t bytes() const override
  {
    return 0;
  }
};
} // namespace

template <>
std::unique_ptr<Preconditioner>
make_on<class IdentityPreconditioner, ThisBackend>(Method & /* method */)
{
  return std::make_unique<Identity>();
}
} // namespace femgpu::linalg
