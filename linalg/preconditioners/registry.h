#ifndef femgpu_linalg_preconditioners_registry_h
#define femgpu_linalg_preconditioners_registry_h

#include "linalg/base/choice.h"
#include "linalg/base/method.h"
#include "linalg/execution/this_backend.h"
#include "linalg/preconditioners/preconditioner.h"

#include <memory>
#include <string>
#include <vector>

/// Every preconditioner: X(name in parameter files, function in linalg/preconditioners, meaning).
#define FEMGPU_PRECONDITIONERS(X)                                                                  \
  X("identity", make_identity, "no preconditioning")                                               \
  X("jacobi", make_jacobi, "the diagonal of A")

namespace femgpu::linalg
{
#define FEMGPU_DECLARE(name, make, meaning)                                                        \
  template <class Backend>                                                                         \
  std::unique_ptr<Preconditioner> make(Method &method);
FEMGPU_PRECONDITIONERS(FEMGPU_DECLARE)
#undef FEMGPU_DECLARE

std::vector<Choice> preconditioner_choices();

/**
 * The preconditioner that @p method names, with its options: "sai tau=0.8".
 * @throws ParameterError naming the valid ones for unknown names and options.
 */
std::unique_ptr<Preconditioner> make_preconditioner(const std::string &method, BackendKind backend);
} // namespace femgpu::linalg

#endif
