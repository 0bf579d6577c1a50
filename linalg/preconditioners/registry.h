#ifndef femgpu_linalg_preconditioners_registry_h
#define femgpu_linalg_preconditioners_registry_h

#include "linalg/base/choice.h"
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
  std::unique_ptr<Preconditioner> make();
FEMGPU_PRECONDITIONERS(FEMGPU_DECLARE)
#undef FEMGPU_DECLARE

std::vector<Choice> preconditioner_choices();

/// @throws ParameterError naming the valid ones if there is no preconditioner @p name.
std::unique_ptr<Preconditioner> make_preconditioner(const std::string &name, BackendKind backend);
} // namespace femgpu::linalg

#endif
