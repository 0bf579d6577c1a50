#include "benchmarks/sparse/contender.h"
#include "linalg/execution/backends.h"
#include "linalg/sparse/galerkin_product.h"

#include <functional>

namespace femgpu::linalg::benchmark
{
namespace
{
/// A contender that stores an object of linalg and updates it.
template <class Kept>
class Femgpu final : public Contender
{
public:
  using Refresh = std::function<void(Kept &)>;

  Femgpu(Kept kept, Refresh refresh) : kept(std::move(kept)), refresh_of(std::move(refresh))
  {}
  void refresh() override
  {
    refresh_of(kept);
  }
  const CsrMatrix &result() const override
  {
    return *kept.matrix();
  }

private:
  Kept kept;
  Refresh refresh_of;
};

template <class Kept, class Refresh>
std::unique_ptr<Contender> keep(Kept kept, const Refresh &refresh)
{
  return std::make_unique<Femgpu<Kept>>(std::move(kept), refresh);
}

template <class Backend>
std::unique_ptr<Contender> make(const Operation operation, const Factors &factors)
{
  const CsrMatrix &A = factors.A, &P = factors.P;
  const auto multiply = [](const CsrMatrix &B, const CsrMatrix &C) {
    return keep(Product<Backend>(B, C), [&](Product<Backend> &kept) { kept.update(B, C); });
  };
  switch (operation) {
  case Operation::transpose:
    return keep(transposed<Backend>(A), [&](DerivedMatrix<Backend> &kept) { kept.update(A); });
  case Operation::square:
    return multiply(A, A);
  case Operation::interpolated:
    return multiply(A, P);
  default: {
    const ProductKind kind = factors.is_symmetric ? ProductKind::symmetric : ProductKind::general;
    return keep(GalerkinProduct<Backend>(A, P, kind),
                [&](GalerkinProduct<Backend> &kept) { kept.update(A, P); });
  }
  }
}
} // namespace

std::unique_ptr<Contender> make_femgpu(const Operation operation, const Factors &factors)
{
  return on_backend(factors.A.executor()->backend(), [&](const auto on) {
    return make<typename decltype(on)::Backend>(operation, factors);
  });
}
} // namespace femgpu::linalg::benchmark
