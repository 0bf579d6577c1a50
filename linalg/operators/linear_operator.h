#ifndef femgpu_linalg_operators_linear_operator_h
#define femgpu_linalg_operators_linear_operator_h

#include "linalg/operators/row_space.h"
#include "linalg/steps/steps.h"
#include "linalg/steps/views.h"

#include <utility>
#include <variant>

namespace femgpu::linalg
{
/// Anything that maps a vector v of its domain to the vector A v of its range.
class LinearOperator
{
public:
  /// @param domain nullptr: the range
  explicit LinearOperator(RowSpacePtr range, RowSpacePtr domain = nullptr)
      : range_space(std::move(range)), domain_space(domain ? std::move(domain) : range_space)
  {}
  virtual ~LinearOperator() = default;

  const RowSpacePtr &range() const
  {
    return range_space;
  }
  const RowSpacePtr &domain() const
  {
    return domain_space;
  }
  /// Rows that are here.
  int n() const
  {
    return range_space->n();
  }
  const ExecutorPtr &executor() const
  {
    return range_space->executor();
  }

  /**
   * Is called before a product step with @p v, which has its ghosts, in order with it, also inside
   * the loop of a solver: where a row of A v is no function of v alone, runs what comes before, by
   * steps of its own.
   * @return the vector that the view multiplies: v, or what was made of it
   */
  virtual const double *prepare(StepRunner & /* runner */, double *v) const
  {
    return v;
  }

  /// Can the ghosts and prepare() be recorded in a graph? Not where they wait for something: a loop
  /// with such an operator is driven by the host.
  virtual bool is_capturable() const
  {
    return domain_space->is_capturable();
  }

private:
  RowSpacePtr range_space, domain_space;
};

/**
 * An operator that product steps see through one of @p Views, row by row. Each kernel of a product
 * exists once for every view that its operator can have, so these are as few as are met.
 */
template <class... Views>
class ViewedOperator : public LinearOperator
{
public:
  using LinearOperator::LinearOperator;
  using View = std::variant<Views...>;

  virtual View view() const = 0;
};

/// The action of M⁻¹, where it is no function of the row.
using PreconditionerOperator = ViewedOperator<CsrView<double>, BsrView<double>, StoredView>;

/// Replaces these members by their sums over the parts.
template <class Sums, auto... members>
void sum_over_parts(const Communicator &communicator, Sums &sums, SumList<members...> /* list */)
{
  double values[] = {sums.*members...};
  communicator.sum(values, sizeof...(members));
  const double *value = values;
  ((sums.*members = *value++), ...);
}

/// Calls @p f with the view of an operator.
template <class... Views, class Function>
decltype(auto) visit_view(const ViewedOperator<Views...> &A, const Function &f)
{
  return std::visit(f, A.view());
}

/// What the view of @p A multiplies in a product step with @p v: v with its ghosts, or what the
/// operator makes of it.
template <class Operator>
const double *prepare_product(const Operator &A, StepRunner &runner, double *v)
{
  A.domain()->bring_ghosts(runner, v);
  return A.prepare(runner, v);
}
} // namespace femgpu::linalg

#endif
