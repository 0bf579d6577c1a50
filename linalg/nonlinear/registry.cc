#include "linalg/nonlinear/registry.h"

#include "linalg/nonlinear/branch_corrector.h"

namespace femgpu::linalg
{
template <class Name>
constexpr auto *nonlinear_method = make_on_any<Name, NonlinearMethod, const LinearSolverOptions &>;

constexpr decltype(nonlinear_methods)::Entry nonlinear_table[] = {
    {"newton",
     "Newton-Krylov method with the linear solver, the preconditioner and a line search; "
     "forcing=eisenstat-walker|constant, eta=TOL, the largest or the constant linear tolerance",
     nonlinear_method<class NewtonMethod>,
     {.solves_linear_systems = true, .usual_max_iterations = 50}},
    {"nlcg",
     "nonlinear conjugate gradients for symmetric A: NLCG with preconditioner identity, NLPCG with "
     "any other symmetric preconditioner; beta=fletcher-reeves|polak-ribiere, sigma=1e-10..0.5 for "
     "the line search",
     nonlinear_method<class NlcgMethod>,
     {.needs_symmetry = true}}};

constexpr decltype(nonlinear_methods) nonlinear_methods("nonlinear method", nonlinear_table);

std::unique_ptr<BranchCorrector> make_branch_corrector(SemilinearEquation &F,
                                                       const BranchMetric &metric,
                                                       const LinearSolverOptions &linear)
{
  return on_backend(F.space().executor()->backend(), [&](const auto on) {
    return make_corrector_on<typename decltype(on)::Backend>(F, metric, linear);
  });
}
} // namespace femgpu::linalg
