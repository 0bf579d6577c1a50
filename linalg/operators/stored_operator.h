#ifndef femgpu_linalg_operators_stored_operator_h
#define femgpu_linalg_operators_stored_operator_h

#include "linalg/operators/matrix.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>

namespace femgpu::linalg
{
/// An operator of any kind in the form that product steps access: its product is stored before each
/// product step.
/// @tparam Base a ViewedOperator that may have a StoredView
template <class Base>
class StoredOperator : public Base
{
public:
  explicit StoredOperator(std::shared_ptr<const LinearOperator> A_)
      : Base(A_->range(), A_->domain()), A(std::move(A_)), Av(A->range())
  {}

  typename Base::View view() const override
  {
    return StoredView{this->n(), Av.data()};
  }
  const double *prepare(StepRunner & /* runner */, double *const v) const override
  {
    A->apply(Vector<double>(A->domain(), v), Av);
    return v;
  }
  void apply(const Vector<double> &x, Vector<double> &y) const override
  {
    A->apply(x, y);
  }
  /// Returns false: the operator launches its work on the executor's stream, which is not the one
  /// that is captured, and may wait for the device.
  bool is_capturable() const override
  {
    return false;
  }

protected:
  std::shared_ptr<const LinearOperator> A;

private:
  mutable Vector<double> Av; // used by one solver at a time
};

/// A linear operator whose entries are not stored, as the matrix of a solver.
class OperatorMatrix final : public StoredOperator<Matrix>
{
public:
  using StoredOperator::StoredOperator;

  const CsrMatrix *find_csr() const override
  {
    return nullptr;
  }
  bool get_diagonal(Vector<double> &d) const override
  {
    return A->get_diagonal(d);
  }
  std::size_t n_nonzeros() const override
  {
    return 0;
  }
  std::size_t n_stored() const override
  {
    return 0;
  }
  std::size_t bytes() const override
  {
    return 0;
  }
  std::string description() const override
  {
    return "operator";
  }
  void update() override
  {}
  double value_precision() const override
  {
    return std::numeric_limits<double>::epsilon();
  }
};
} // namespace femgpu::linalg

#endif
