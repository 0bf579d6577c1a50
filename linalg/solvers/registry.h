#ifndef femgpu_linalg_solvers_registry_h
#define femgpu_linalg_solvers_registry_h

#include "linalg/base/choice.h"
#include "linalg/base/method.h"
#include "linalg/execution/this_backend.h"
#include "linalg/solvers/solver.h"

#include <memory>
#include <string>
#include <vector>

/// Every solver: X(name in parameter files, function in linalg/solvers, meaning).
#define FEMGPU_SOLVERS(X)                                                                          \
  X("cg", make_cg, "preconditioned conjugate gradients, classical form, 3 kernels an iteration")   \
  X("pipelined-cg", make_pipelined_cg,                                                             \
    "preconditioned conjugate gradients, pipelined form, 2 kernels an iteration")                  \
  X("chronopoulos-gear-cg", make_chronopoulos_gear_cg,                                             \
    "preconditioned conjugate gradients of Chronopoulos and Gear, 2 kernels an iteration")         \
  X("minres", make_minres,                                                                         \
    "minimal residuals for symmetric, also indefinite matrices, 2 kernels an iteration")           \
  X("bicgstab", make_bicgstab, "BiCGStab for unsymmetric matrices, classical form, 5 kernels")     \
  X("pipelined-bicgstab", make_pipelined_bicgstab,                                                 \
    "BiCGStab for unsymmetric matrices, pipelined form, 4 kernels an iteration")                   \
  X("bicgstab-l", make_bicgstab_l,                                                                 \
    "BiCGStab(l) for unsymmetric matrices, 2 l products an iteration; l=L (1 to 8)")               \
  X("idr", make_idr, "IDR(s) for unsymmetric matrices, s + 1 products a cycle; s=S (1 to 16)")     \
  X("gmres", make_gmres,                                                                           \
    "GMRES for unsymmetric matrices; restart=M (1 to 256), orthogonalisation=mgs|cgs|cgs2")        \
  X("fgmres", make_fgmres, "flexible GMRES, for preconditioners that change; options as gmres")    \
  X("pipelined-gmres", make_pipelined_gmres,                                                       \
    "simpler GMRES for unsymmetric matrices, pipelined form, 3 kernels an iteration; restart=M")   \
  X("ca-gmres", make_ca_gmres,                                                                     \
    "communication-avoiding GMRES; restart=M, s=S vectors at a time, basis=newton|monomial, "      \
    "borth=cgs|mgs, tsqr=mgs|cgs|cholqr|svqr|caqr, passes=1|2, "                                   \
    "powers=auto|plain|blocked|streamed with depth=K block=ROWS memory=MB, errors=yes|no")

namespace femgpu::linalg
{
#define FEMGPU_DECLARE(name, make, meaning)                                                        \
  template <class Backend>                                                                         \
  std::unique_ptr<Solver> make(Method &method);
FEMGPU_SOLVERS(FEMGPU_DECLARE)
#undef FEMGPU_DECLARE

std::vector<Choice> solver_choices();

/**
 * The solver that @p method names, with its options, if it has any.
 * @throws ParameterError naming the valid ones for unknown names and options.
 */
std::unique_ptr<Solver> make_solver(const std::string &method, BackendKind backend);
} // namespace femgpu::linalg

#endif
