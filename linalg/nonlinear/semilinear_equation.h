#ifndef femgpu_linalg_nonlinear_semilinear_equation_h
#define femgpu_linalg_nonlinear_semilinear_equation_h

#include "linalg/nonlinear/nonlinearity.h"
#include "linalg/operators/matrix.h"

#include <string>

namespace femgpu::linalg
{
/// Evaluates row i of the residual r(x) = b + λ W φ(x) − A x within steps (steps/steps.h) that
/// compute A x.
template <class ReactionType>
struct SemilinearRow : DiagonalTerm<ReactionType>
{
  const double *b;

  /// Returns r_i, and sets @p g_i to ∂r_i/∂λ.
  FEMGPU_HD
  double residual(const int i, const double x_i, const double Ax_i, double &g_i) const
  {
    g_i = this->weights[i] * this->reaction.value(x_i);
    return b[i] + this->lambda * g_i - Ax_i;
  }

  /// Returns r_i at x = 0.
  FEMGPU_HD
  double residual_at_zero(const int i) const
  {
    return b[i] + this->value(i, 0.);
  }
};

/**
 * The equation A x = b + λ W φ(x) in the memory of an executor. Nonlinear methods fuse the residual
 * r(x) = b + λ W φ(x) − A x into their steps; the Jacobian J(x) = −r'(x) has the pattern of A. The
 * object refers to A, w and b, which must outlive it.
 */
class SemilinearEquation
{
public:
  /// @param A the matrix; nlcg needs a symmetric positive definite one
  /// @param w the non-negative diagonal of W
  SemilinearEquation(const Matrix &A, const Buffer<double> &w, const Buffer<double> &b,
                     const Nonlinearity &phi)
      : A(A), w(w), b(b), phi(phi)
  {}

  const Matrix &matrix() const
  {
    return A;
  }
  void set_parameter(const double lambda)
  {
    phi.lambda = lambda;
  }

  /// Calls f(row) with the SemilinearRow of the reaction term.
  template <class Function>
  decltype(auto) visit_row(const Function &f) const
  {
    return visit_term(phi, w.data(), [&](const auto &term) {
      return f(SemilinearRow<std::decay_t<decltype(term.reaction)>>{term, b.data()});
    });
  }

  const RowSpace &space() const
  {
    return *A.domain();
  }
  int n() const
  {
    return A.n();
  }

  /// The name of the residual norm in messages and reports.
  static constexpr const char *residual_name = "‖b + λ W φ(x) − A x‖";

private:
  const Matrix &A;
  const Buffer<double> &w, &b;
  Nonlinearity phi;
};
} // namespace femgpu::linalg

#endif
