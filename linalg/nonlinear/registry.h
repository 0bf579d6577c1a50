#ifndef femgpu_linalg_nonlinear_registry_h
#define femgpu_linalg_nonlinear_registry_h

#include "linalg/base/choice.h"
#include "linalg/base/method.h"
#include "linalg/execution/this_backend.h"
#include "linalg/nonlinear/nonlinear_method.h"

#include <memory>
#include <string>
#include <vector>

/// Every nonlinear method: X(name in parameter files, function in linalg/nonlinear, meaning).
#define FEMGPU_NONLINEAR_METHODS(X)                                                                \
  X("newton", make_newton,                                                                         \
    "Newton-Krylov with the solver and preconditioner of linear systems and a line search; "       \
    "forcing=eisenstat-walker|constant, eta=TOL (largest, or constant, linear tolerance)")         \
  X("nlcg", make_nlcg,                                                                             \
    "nonlinear conjugate gradients for symmetric A, with any symmetric preconditioner of A: NLCG " \
    "with identity, else NLPCG; beta=fletcher-reeves|polak-ribiere, sigma=1e-10..0.5 for the "     \
    "line "                                                                                        \
    "search")

namespace femgpu::linalg
{
#define FEMGPU_DECLARE(name, make, meaning)                                                        \
  template <class Backend>                                                                         \
  std::unique_ptr<NonlinearMethod> make(Method &method, const LinearSolverOptions &linear);
FEMGPU_NONLINEAR_METHODS(FEMGPU_DECLARE)
#undef FEMGPU_DECLARE

std::vector<Choice> nonlinear_method_choices();

/**
 * The method that @p text names, with its options: "nlcg beta=polak-ribiere".
 * @throws ParameterError naming the valid ones for unknown names and options
 */
std::unique_ptr<NonlinearMethod> make_nonlinear_method(const std::string &text,
                                                       const LinearSolverOptions &linear,
                                                       BackendKind backend);
} // namespace femgpu::linalg

#endif
