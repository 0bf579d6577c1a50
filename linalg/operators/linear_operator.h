#ifndef femgpu_linalg_operators_linear_operator_h
#define femgpu_linalg_operators_linear_operator_h

#include "linalg/operators/vector.h"
#include "linalg/steps/steps.h"
#include "linalg/steps/views.h"

#include <utility>
#include <variant>

namespace femgpu::linalg
{
/**
 * A linear operator A, which maps a vector x of its domain to the vector A x of its range.
 * Matrices, preconditioners and solvers are linear operators. To solve a system with an operator
 * whose entries are not stored, derive from this class and pass an object to LinearSolver.
 */
class LinearOperator
{
public:
  /// @param domain nullptr: the same as the range
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
  /// The number of rows on this rank.
  int n() const
  {
    return range_space->n();
  }
  const ExecutorPtr &executor() const
  {
    return range_space->executor();
  }

  /**
   * Computes y = A x. On a device, an implementation launches its work on the executor's stream
   * and need not wait for it.
   * @param x vector of the domain; implementations that read its ghosts update them first
   * @param y vector of the range, which does not overlap x
   */
  virtual void apply(const Vector<double> &x, Vector<double> &y) const = 0;

  /// Stores the diagonal entries of A in @p d, a vector of the range.
  /// @return whether they are known
  virtual bool get_diagonal(Vector<double> &d) const;

private:
  RowSpacePtr range_space, domain_space;
};

template <class... Views>
class ViewedOperator;

/// Computes y = A x for an operator with views.
template <class... Views>
void store_product(const ViewedOperator<Views...> &A, const Vector<double> &x, Vector<double> &y);

/**
 * An operator that product steps access row by row through a view of one of the types @p Views.
 * Each kernel with a product is instantiated for every view that its operator can have, so there
 * should be as few views as possible.
 */
template <class... Views>
class ViewedOperator : public LinearOperator
{
public:
  using LinearOperator::LinearOperator;
  using View = std::variant<Views...>;

  virtual View view() const = 0;

  /**
   * Prepares a product step (ProductStep in steps/steps.h) with @p v, whose ghosts are up to date.
   * Called before each product step, also inside a solver's loop. An operator that needs other
   * steps before the rows of A v can be computed runs those steps here.
   * @return the vector that the operator's view multiplies: v, or a vector derived from it
   */
  virtual const double *prepare(StepRunner & /* runner */, double *v) const
  {
    return v;
  }

  /// Returns whether the ghost exchange and prepare() can be captured in a CUDA graph. They cannot
  /// if data pass through the host; the host then launches each step of loops with this operator.
  virtual bool is_capturable() const
  {
    return domain()->is_capturable();
  }

  void apply(const Vector<double> &x, Vector<double> &y) const override
  {
    store_product(*this, x, y);
  }
};

/// The operator M⁻¹ of a preconditioner that is not diagonal.
using PreconditionerOperator = ViewedOperator<CsrView<double>, BsrView<double>, StoredView>;

/// Replaces each listed member of @p sums by its sum over the ranks.
template <class Sums, auto... members>
void sum_over_ranks(const Communicator &communicator, Sums &sums, SumList<members...> /* list */)
{
  double values[] = {sums.*members...};
  communicator.sum(values, sizeof...(members));
  const double *value = values;
  ((sums.*members = *value++), ...);
}

/// Calls @p f with the view of @p A.
template <class... Views, class Function>
decltype(auto) visit_view(const ViewedOperator<Views...> &A, const Function &f)
{
  return std::visit(f, A.view());
}

/// Prepares a product step with @p A: updates the ghosts of @p v and calls A.prepare().
/// @return the vector that the view of A multiplies: v, or a vector derived from it
template <class Operator>
const double *prepare_product(const Operator &A, StepRunner &runner, double *v)
{
  A.domain()->update_ghost_values(runner, v);
  return A.prepare(runner, v);
}
} // namespace femgpu::linalg

#endif
