#ifndef femgpu_linalg_operators_linear_operator_h
#define femgpu_linalg_operators_linear_operator_h

#include "linalg/execution/steps.h"
#include "linalg/matrices/views.h"

#include <variant>

namespace femgpu::linalg
{
/// Anything that maps a vector v to A v, in the memory of an executor.
class LinearOperator
{
public:
  virtual ~LinearOperator() = default;

  /**
   * Is called before a product step with @p v, in order with it, also inside the loop of a solver:
   * where a row of A v is no function of v alone, runs what comes before, by steps of its own.
   * @return the vector that the view multiplies: v, or what was made of it
   */
  virtual const double *prepare(StepRunner & /* runner */, const double *v) const
  {
    return v;
  }
};

/**
 * An operator that product steps see through one of @p Views, row by row. Each kernel of a product
 * exists once for every view that its operator can have, so these are as few as are met.
 */
template <class... Views>
class ViewedOperator : public LinearOperator
{
public:
  using View = std::variant<Views...>;

  virtual View view() const = 0;
};

/// The action of M⁻¹, where it is no function of the row.
using PreconditionerOperator = ViewedOperator<CsrView<double>, BsrView<double>, StoredView>;

/// Calls @p f with the view of an operator.
template <class... Views, class Function>
decltype(auto) visit_view(const ViewedOperator<Views...> &A, const Function &f)
{
  return std::visit(f, A.view());
}
} // namespace femgpu::linalg

#endif
