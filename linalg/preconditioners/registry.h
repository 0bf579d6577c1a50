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
  X("jacobi", make_jacobi, "the diagonal of A")                                                    \
  X("block-jacobi", make_block_jacobi, "the diagonal blocks of A; block=B (0: of a node)")         \
  X("chebyshev", make_chebyshev,                                                                   \
    "Chebyshev polynomial of the Jacobi-scaled A; degree=K (K-1 products with A), "                \
    "ratio=R of the ends of its interval, eigenvalue=power|gershgorin for the upper one")          \
  X("neumann", make_neumann, "truncated Neumann series of the Jacobi-scaled A; degree=K")          \
  X("sai", make_sai,                                                                               \
    "sparse approximate inverse, min |AM-I|; tau=0..1, power=1..3 for the pattern, "               \
    "side=right|left (min |MA-I|); not symmetric")                                                 \
  X("fsai", make_fsai,                                                                             \
    "factorised sparse approximate inverse G'G of symmetric positive definite A; tau=0..1, "       \
    "power=1..3 for the pattern of G, grow=ROUNDS with drop=TOL for one that adapts itself")       \
  X("ainv", make_ainv,                                                                             \
    "factorised approximate inverse by biconjugation of the unit vectors; drop=TOL, fill=K for "   \
    "columns, order=shortest|colouring|natural|nested-dissection of the pivots, "                  \
    "symmetric=auto|yes|no, scaling=diagonal|none, blocks=P, "                                     \
    "partition=contiguous|metis|geometry")                                                         \
  X("sainv", make_sainv,                                                                           \
    "the same stabilised: for positive definite A the pivots are positive; options as ainv")       \
  X("ilu", make_ilu,                                                                               \
    "incomplete LU factors of blocks of A; level=K of fill, blocks=P|auto, "                       \
    "partition=contiguous|metis|geometry, triangular=auto|levels|dependencies|sweeps|cusparse "    \
    "for solves with them, sweeps=K|auto")                                                         \
  X("ic", make_ic, "incomplete Cholesky factors of blocks of a symmetric A; options as ilu")       \
  X("two-stage", make_two_stage,                                                                   \
    "outer=M steps of block Jacobi with inner=Q steps of ilu, or factor=ic; options as ilu")

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
