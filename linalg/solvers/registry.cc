#include "linalg/solvers/registry.h"

#include "linalg/base/error.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/backward_error.h"

namespace femgpu::linalg
{
template <class Name>
constexpr auto *solver = make_on_any<Name, Solver>;

constexpr decltype(solvers)::Entry solver_table[] = {
    {"cg",
     "preconditioned conjugate gradients in the classical form, with 3 kernels per iteration",
     solver<class CgSolver>,
     {.needs_symmetry = true,
      .supports_batch = true,
      .supports_resident_loop = true,
      .estimates_energy_error = true}},
    {"pipelined-cg",
     "preconditioned conjugate gradients in the pipelined form, with 2 kernels per iteration",
     solver<class PipelinedCgSolver>,
     {.needs_symmetry = true,
      .supports_batch = true,
      .supports_resident_loop = true,
      .estimates_energy_error = true}},
    {"chronopoulos-gear-cg",
     "preconditioned conjugate gradients in the form of Chronopoulos and Gear, with 2 kernels per "
     "iteration",
     solver<class ChronopoulosGearCgSolver>,
     {.needs_symmetry = true,
      .supports_batch = true,
      .supports_resident_loop = true,
      .estimates_energy_error = true}},
    {"block-cg",
     "preconditioned conjugate gradients that solve up to 32 right-hand sides together; cg for a "
     "single one",
     solver<class BlockCgSolver>,
     {.needs_symmetry = true,
      .supports_batch = true,
      .supports_resident_loop = true,
      .supports_block = true,
      .estimates_energy_error = true}},
    {"minres",
     "minimal residual method for symmetric matrices, which may be indefinite; it has 2 kernels "
     "per iteration",
     solver<class MinresSolver>,
     {.needs_symmetry = true, .supports_batch = true, .supports_resident_loop = true}},
    {"bicgstab",
     "classical form of BiCGStab, for unsymmetric matrices, with 5 kernels per iteration",
     solver<class BicgstabSolver>,
     {.supports_batch = true, .supports_resident_loop = true}},
    {"pipelined-bicgstab",
     "pipelined form of BiCGStab, for unsymmetric matrices, with 4 kernels per iteration",
     solver<class PipelinedBicgstabSolver>,
     {.supports_batch = true, .supports_resident_loop = true}},
    {"bicgstab-l",
     "BiCGStab(l) for unsymmetric matrices, with 2 l products with A per iteration. Option: l=L (1 "
     "to 8)",
     solver<class BicgstabLSolver>},
    {"idr",
     "IDR(s) for unsymmetric matrices, with s + 1 products with A per cycle. Option: s=S (1 to "
     "16), the number of shadow vectors",
     solver<class IdrSolver>},
    {"gmres",
     "GMRES for unsymmetric matrices. Options: restart=M (1 to 256), the length of a cycle; "
     "orthogonalisation=mgs|cgs|cgs2, which is modified, classical or twice classical Gram-Schmidt",
     solver<class GmresSolver>},
    {"fgmres",
     "flexible GMRES, for preconditioners that change between iterations. It has the options of "
     "gmres",
     solver<class FgmresSolver>},
    {"pipelined-gmres",
     "pipelined form of Walker and Zhou's simpler GMRES, for unsymmetric matrices, with 3 kernels "
     "per iteration. Option: restart=M, as for gmres",
     solver<class PipelinedGmresSolver>,
     {.supports_resident_loop = true}},
    {"ca-gmres",
     "communication-avoiding GMRES. Options: s=S, the number of basis vectors that are computed "
     "together; restart=M, as for gmres; basis=newton|monomial, the polynomials of the basis; "
     "borth=cgs|mgs, how new vectors are orthogonalised against earlier ones; "
     "tsqr=mgs|cgs|cholqr|svqr|caqr, how new vectors are orthogonalised among themselves; "
     "passes=1|2, the number of passes of both orthogonalisations; "
     "powers=plain|blocked|streamed|auto, how the vectors are computed (plain: one product with A "
     "per step; blocked: several steps for each block of rows; streamed: as blocked, with A in "
     "host memory; auto: the fastest of these in a measurement); depth=K, the number of steps per "
     "block; block=ROWS, the number of rows of a block; memory=MB, the device memory for a "
     "streamed A; errors=yes, which reports the loss of orthogonality",
     solver<class CaGmresSolver>},
    {"richardson",
     "the stationary iteration x += M^-1 (b - A x), which converges if the preconditioner M is "
     "close to A",
     solver<class RichardsonSolver>},
    {"multigrid",
     "richardson with preconditioner multigrid. The options of multigrid belong to the "
     "preconditioner",
     solver<class RichardsonSolver>,
     {.preconditioner = "multigrid"}},
    {"direct",
     "LU factorisation by UMFPACK on one core of the host, or on a GPU factorisation by cuDSS, for "
     "small systems and as a reference",
     solver<class DirectSolver>,
     {.is_direct = true}}};

constexpr decltype(solvers) solvers("solver", solver_table);

std::string preconditioner_of(const LinearSolverOptions &options)
{
  const auto &solver = solvers.entry_of(options.solver);
  if (solver.traits.is_direct)
    return "identity";
  const char *const own = solver.traits.preconditioner;
  const auto &requested = preconditioners.entry_of(options.preconditioner);
  if (own != nullptr && requested.traits.is_automatic)
    return own;
  if (own != nullptr && std::string(own) != requested.name)
    throw ParameterError("Solver '" + std::string(solver.name) +
                             "' does not support preconditioner '" + requested.name +
                             "'. Use preconditioner " + own +
                             " or auto, or solver richardson, which takes any.",
                         "preconditioner");
  return options.preconditioner;
}

SystemNorms measure(const RowSpace &space, const MeasuredSystem &system)
{
  return on_backend(space.executor()->backend(), [&](const auto on) {
    return measure_on<typename decltype(on)::Backend>(space, system);
  });
}
} // namespace femgpu::linalg
