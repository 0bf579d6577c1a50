#include "linalg/nonlinear/registry.h"

#include "linalg/nonlinear/branch_corrector.h"

namespace femgpu::linalg
{
template <class Name>
constexpr auto *nonlinear_method = make_on_any<Name, NonlinearMethod, const LinearSolverOptions &>;

constexpr decltype(nonlinear_methods)::Entry nonlinear_table[] = {
    {"newton",
     "Newton's method with line search, which uses the linear solver and the preconditioner. "
     "Options: forcing=eisenstat-walker|constant, how the relative tolerances of the linear "
     "systems are chosen; eta=TOL, the largest of these tolerances, or with constant their value",
     nonlinear_method<class NewtonMethod>,
     {.solves_linear_systems = true, .usual_max_iterations = 50}},
    {"nlcg",
     "nonlinear conjugate gradients for symmetric A, with any symmetric preconditioner. Options: "
     "beta=fletcher-reeves|polak-ribiere, the formula of the search direction; sigma=1e-10..0.5, "
     "the reduction of the slope that ends a line search",
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
