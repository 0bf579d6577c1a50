#ifndef femgpu_linalg_nonlinear_registry_h
#define femgpu_linalg_nonlinear_registry_h

#include "linalg/execution/backends.h"
#include "linalg/nonlinear/nonlinear_method.h"

#include <memory>
#include <string>

namespace femgpu::linalg
{
struct NonlinearTraits
{
  bool needs_symmetry = false;        ///< A and M must be symmetric
  bool solves_linear_systems = false; ///< uses the solver of LinearSolverOptions
  int usual_max_iterations = 20000;
};

extern const BackendRegistry<NonlinearTraits, NonlinearMethod, const LinearSolverOptions &>
    nonlinear_methods;

/// Makes the method that @p text names, with its options: "nlcg beta=polak-ribiere".
/// @throws ParameterError for unknown names and options
inline std::unique_ptr<NonlinearMethod> make_nonlinear_method(const std::string &text,
                                                              const LinearSolverOptions &linear,
                                                              const BackendKind backend)
{
  return nonlinear_methods.make(text, backend, linear);
}
} // namespace femgpu::linalg

#endif
