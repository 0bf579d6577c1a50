#include "benchmarks/sparse/candidate.h"
#include "linalg/execution/backends.h"
#include "linalg/sparse/galerkin_product.h"

#include <functional>

namespace femgpu::linalg::benchmark
{
namespace
{
/// A candidate that stores the operation as an object of linalg and updates this object.
template <class Object>
class Femgpu final : public Candidate
{
public:
  using Refresh = std::function<void(Object &)>;

  Femgpu(Object object, Refresh refresh) : object(std::move(object)), refresh_of(std::move(refresh))
  {}
  void refresh() override
  {
    refresh_of(object);
  }
  const CsrMatrix &result() const override
  {
    return *object.matrix();
  }

private:
  Object object;
  Refresh refresh_of;
};

template <class Object, class Refresh>
std::unique_ptr<Candidate> make_candidate(Object object, const Refresh &refresh)
{
  return std::make_unique<Femgpu<Object>>(std::move(object), refresh);
}

template <class Backend>
std::unique_ptr<Candidate> make(const Operation operation, const Factors &factors)
{
  const CsrMatrix &A = factors.A, &P = factors.P;
  const auto multiply = [](const CsrMatrix &B, const CsrMatrix &C) {
    return make_candidate(Product<Backend>(B, C),
                          [&](Product<Backend> &object) { object.update(B, C); });
  };
  switch (operation) {
  case Operation::transpose:
    return make_candidate(transposed<Backend>(A),
                          [&](DerivedMatrix<Backend> &object) { object.update(A); });
  case Operation::square:
    return multiply(A, A);
  case Operation::interpolated:
    return multiply(A, P);
  default: {
    const ProductKind kind = factors.is_symmetric ? ProductKind::symmetric : ProductKind::general;
    return make_candidate(GalerkinProduct<Backend>(A, P, kind),
                          [&](GalerkinProduct<Backend> &object) { object.update(A, P); });
  }
  }
}
} // namespace

std::unique_ptr<Candidate> make_femgpu(const Operation operation, const Factors &factors)
{
  return on_backend(factors.A.executor()->backend(), [&](const auto on) {
    return make<typename decltype(on)::Backend>(operation, factors);
  });
}
} // namespace femgpu::linalg::benchmark
