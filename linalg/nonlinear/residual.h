#ifndef femgpu_linalg_nonlinear_residual_h
#define femgpu_linalg_nonlinear_residual_h

#include "linalg/nonlinear/nonlinear_method.h"
#include "linalg/solvers/krylov.h"

namespace femgpu::linalg
{
/// r = b + λ W φ(x) − A x, with (r, r); (r, r) at x = 0 goes into bb.
template <class Term>
struct NonlinearResidual
{
  Term term;
  const double *b, *x;
  double *r;

  using Contributes = SumList<&ResidualSums::rr, &ResidualSums::bb>;
  FEMGPU_HD
  void operator()(const ResidualState & /* s */, const int i, const double Ax_i,
                  ResidualSums &sums) const
  {
    const double r_i = b[i] + term.value(i, x[i]) - Ax_i;
    r[i] = r_i;
    sums.rr += r_i * r_i;
    const double r_at_0 = b[i] + term.value(i, 0.);
    sums.bb += r_at_0 * r_at_0;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(ResidualState &s, const ResidualSums &sums) const
  {
    s.rr = sums.rr;
    s.bb = sums.bb;
  }
};

/// Computes r = b + λ W φ(x) − A x, with the values of A as they came, and returns (r, r) and its
/// value at x = 0.
template <class Backend>
ResidualState nonlinear_residual(const NonlinearSystem &system, Buffer<double> &x,
                                 Buffer<double> &r)
{
  const Matrix &A = system.A;
  Iteration<Backend, ResidualState, ResidualSums> iteration(*A.range());
  iteration.set_state({});
  visit_term(system.phi, system.w.data(), [&](const auto &term) {
    using Term = std::decay_t<decltype(term)>;
    iteration.once(product(A.csr(), x.data(),
                           NonlinearResidual<Term>{term, system.b.data(), x.data(), r.data()}));
  });
  return iteration.get_state();
}

/// The norm that reports of nonlinear solves name.
constexpr const char *nonlinear_residual_name = "‖b+λWφ(x)−Ax‖";

inline std::string nonlinear_norm(const SolveControl &control)
{
  return std::string("‖b + λ W φ(x) − A x‖ relative to its value at ") +
         (control.reference == SolveControl::Reference::rhs ? "x = 0" : "x₀");
}
} // namespace femgpu::linalg

#endif
