#ifndef femgpu_linalg_nonlinear_nonlinear_operator_h
#define femgpu_linalg_nonlinear_nonlinear_operator_h

#include "linalg/base/error.h"
#include "linalg/nonlinear/nonlinearity.h"
#include "linalg/operators/matrix.h"

#include <string>
#include <type_traits>
#include <variant>

/**
 * @file
 * Equations r(x) = 0, as nonlinear methods see them: the residual r(x) and the Jacobian
 * J(x) = −r'(x), perhaps with a parameter λ. A method sees rows of r(x) in product steps with an
 * operator L, as bodies with a plain struct, which supplies
 *
 *     double residual(int i, double x_i, double Lx_i, double &g_i) const; // r_i, and ∂r_i/∂λ
 *     double at_zero(int i) const;                          // r_i at x = 0
 *     double constant(int i) const;                         // what of r_i depends on nothing
 *     double derivative(int i, double x_i) const;           // of r_i + (L x)_i by x_i
 *     double difference(int i, double x_i, double d) const; // where x is longer by d than x_i,
 *     double excess(int i, double x_i, double d) const;     // see nonlinearity.h
 */
namespace femgpu::linalg
{
/// Rows of A x = b + λ W φ(x), with L = A.
template <class LawType>
struct SemilinearRow : DiagonalTerm<LawType>
{
  static constexpr int n_vectors = 1; ///< that derivative(), difference() and excess() read

  const double *b;

  FEMGPU_HD
  double residual(const int i, const double x_i, const double Ax_i, double &g_i) const
  {
    g_i = this->weights[i] * this->law.value(x_i);
    return b[i] + this->lambda * g_i - Ax_i;
  }
  FEMGPU_HD
  double at_zero(const int i) const
  {
    return b[i] + this->value(i, 0.);
  }
  FEMGPU_HD
  double constant(const int i) const
  {
    return b[i];
  }
};

/**
 * The residual of any other equation: an operator that makes r(x) in prepare(), by steps of its
 * own, also inside the loop of a method. Where it is to be traced it has a parameter.
 */
class EvaluatedResidual : public ViewedOperator<StoredView>
{
public:
  using ViewedOperator::ViewedOperator;

  /// r(0), n rows in the executor's memory: what tolerances are relative to.
  virtual const double *at_zero() const = 0;

  /// Writes J(x) = −r'(x) in the pattern of NonlinearOperator::linear_part(); @p x has its ghosts.
  virtual void set_jacobian(StepRunner &runner, const double *x, double *values) const = 0;

  /// g = ∂r/∂λ. @throws ParameterError if there is no λ
  virtual void set_derivative(StepRunner & /* runner */, const double * /* x */,
                              double * /* g */) const
  {
    throw ParameterError("This equation has no parameter: there is no branch to trace.");
  }
};

/// Rows of an EvaluatedResidual, which is L; its J is in the products already.
struct EvaluatedRow
{
  static constexpr int n_vectors = 0;

  const double *r_at_zero;
  const double *g; ///< nullptr: not wanted

  FEMGPU_HD
  double residual(const int i, const double /* x_i */, const double r_i, double &g_i) const
  {
    g_i = g != nullptr ? g[i] : 0.;
    return r_i;
  }
  FEMGPU_HD
  double at_zero(const int i) const
  {
    return r_at_zero[i];
  }
  FEMGPU_HD
  double constant(const int i) const
  {
    return r_at_zero[i];
  }
  FEMGPU_HD
  double derivative(const int /* i */, const double /* x_i */) const
  {
    return 0.;
  }
};

/// An equation r(x) = 0 in the memory of an executor.
class NonlinearOperator
{
public:
  /// How steps see r(x): fused with a product, or made by steps of the equation's own.
  using Action = std::variant<SemilinearRow<ExponentialLaw>, SemilinearRow<ExpressionLaw>,
                              const EvaluatedResidual *>;

  virtual ~NonlinearOperator() = default;

  /// A matrix like J(x) with the same pattern, whatever x is: preconditioners that are to stay are
  /// made from it.
  virtual const Matrix &linear_part() const = 0;

  virtual Action action() const = 0;

  /// Of r(x), for people.
  virtual std::string residual_name() const
  {
    return "‖r(x)‖";
  }

  /// @throws ParameterError if there is no λ
  virtual void set_parameter(double /* lambda */)
  {
    throw ParameterError("This equation has no parameter to be set.");
  }

  const RowSpace &space() const
  {
    return *linear_part().domain();
  }
  int n() const
  {
    return linear_part().n();
  }
};

/// A x = b + λ W φ(x), which is fused into the steps of methods; refers to what must outlive it.
class SemilinearEquation final : public NonlinearOperator
{
public:
  /// @param A symmetric positive definite for nlcg. @param w weights, not negative
  SemilinearEquation(const Matrix &A, const Buffer<double> &w, const Buffer<double> &b,
                     const Nonlinearity &phi)
      : A(A), w(w), b(b), phi(phi)
  {}

  const Matrix &linear_part() const override
  {
    return A;
  }
  Action action() const override
  {
    return visit_term(phi, w.data(), [&](const auto &term) -> Action {
      return SemilinearRow<std::decay_t<decltype(term.law)>>{term, b.data()};
    });
  }
  std::string residual_name() const override
  {
    return "‖b + λ W φ(x) − A x‖";
  }
  void set_parameter(const double lambda) override
  {
    phi.lambda = lambda;
  }

private:
  const Matrix &A;
  const Buffer<double> &w, &b;
  Nonlinearity phi;
};

/// Is r(x) fused into the product steps of a method? (Else there is an EvaluatedResidual.)
template <class Row>
constexpr bool is_semilinear = !std::is_same_v<Row, EvaluatedRow>;

/// Calls f(L, row) with what product steps multiply with and see of @p F. @param g where the
/// derivative by λ is wanted, and has been made where it is not fused
template <class Function>
void visit_residual(const NonlinearOperator &F, const double *g, const Function &f)
{
  std::visit(
      [&](const auto &action) {
        if constexpr (std::is_pointer_v<std::decay_t<decltype(action)>>)
          f(*action, EvaluatedRow{action->at_zero(), g});
        else
          f(F.linear_part().csr(), action);
      },
      F.action());
}
} // namespace femgpu::linalg

#endif
