#ifndef femgpu_linalg_preconditioners_factorised_operator_h
#define femgpu_linalg_preconditioners_factorised_operator_h

#include "linalg/execution/steps/row_bodies.h"
#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"

#include <memory>
#include <utility>

namespace femgpu::linalg
{
/**
 * M⁻¹ = H F as two products: with F by a step of its own, with H fused into the step of the solver
 * that needs M⁻¹ r. H is Fᵀ where M is to be symmetric. Without F it is H alone.
 */
template <class Backend>
class FactorisedOperator final : public PreconditionerOperator
{
public:
  FactorisedOperator(std::shared_ptr<const CsrMatrix> F_, std::shared_ptr<const CsrMatrix> H_)
      : PreconditionerOperator(H_->range(), F_ ? F_->domain() : H_->domain()), F(std::move(F_)),
        H(std::move(H_)), y(H->executor(), F ? H->domain()->n_with_ghosts() : 0)
  {}

  View view() const override
  {
    return H->csr_view();
  }
  const double *prepare(StepRunner &runner, double *r) const override
  {
    if (!F)
      return r;
    static_cast<Runner<Backend> &>(runner).run(product(*F, r, StoreProduct{y.data()}));
    return y.data();
  }
  std::size_t bytes() const
  {
    return (F ? F->bytes() : 0) + H->bytes() + 2 * y.bytes();
  }

private:
  std::shared_ptr<const CsrMatrix> F, H;
  mutable Buffer<double> y; // a preconditioner is used by one solver at a time
};
} // namespace femgpu::linalg

#endif
