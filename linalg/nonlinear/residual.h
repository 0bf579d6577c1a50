#ifndef femgpu_linalg_nonlinear_residual_h
#define femgpu_linalg_nonlinear_residual_h

#include "linalg/nonlinear/nonlinear_method.h"
#include "linalg/solvers/krylov.h"

namespace femgpu::linalg
{
/// Computes the residual r = r(x) of a SemilinearEquation, rr = (r, r), and bb, the value of (r, r)
/// at x = 0.
template <class Row>
struct NonlinearResidual
{
  Row row;
  const double *x;
  double *r;

  using Contributes = SumList<&ResidualSums::rr, &ResidualSums::bb>;
  FEMGPU_HD
  void operator()(const ResidualState & /* s */, const int i, const double Ax_i,
                  ResidualSums &sums) const
  {
    double g_i = 0.;
    const double r_i = row.residual(i, x[i], Ax_i, g_i);
    r[i] = r_i;
    sums.rr += r_i * r_i;
    const double r_at_0 = row.residual_at_zero(i);
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

/// Computes r = r(x) with the unrounded values of A. Returns rr = (r, r), and bb, which is the
/// value of (r, r) at x = 0.
template <class Backend>
ResidualState nonlinear_residual(const SemilinearEquation &F, Buffer<double> &x, Buffer<double> &r)
{
  Iteration<Backend, ResidualState, ResidualSums> iteration(F.space());
  iteration.set_state({});
  F.visit_row([&](const auto &row) {
    using Row = std::decay_t<decltype(row)>;
    iteration.once(
        product(F.matrix().csr(), x.data(), NonlinearResidual<Row>{row, x.data(), r.data()}));
  });
  return iteration.get_state();
}

/// Returns the name of the norm in reports of nonlinear solves.
inline std::string nonlinear_norm(const SolveControl &control)
{
  return std::string(SemilinearEquation::residual_name) + " relative to its value at " +
         (control.reference == SolveControl::Reference::rhs ? "x = 0" : "x₀");
}
} // namespace femgpu::linalg

#endif
