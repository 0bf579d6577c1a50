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
     "preconditioned conjugate gradients, classical form, 3 kernels per iteration",
     solver<class CgSolver>,
     {.needs_symmetry = true,
      .supports_batch = true,
      .supports_resident_loop = true,
      .estimates_energy_error = true}},
    {"pipelined-cg",
     "preconditioned conjugate gradients, pipelined form, 2 kernels per iteration",
     solver<class PipelinedCgSolver>,
     {.needs_symmetry = true,
      .supports_batch = true,
      .supports_resident_loop = true,
      .estimates_energy_error = true}},
    {"chronopoulos-gear-cg",
     "preconditioned conjugate gradients of Chronopoulos and Gear, 2 kernels per iteration",
     solver<class ChronopoulosGearCgSolver>,
     {.needs_symmetry = true,
      .supports_batch = true,
      .supports_resident_loop = true,
      .estimates_energy_error = true}},
    {"minres",
     "minimal residual method for symmetric matrices, also indefinite ones, 2 kernels per "
     "iteration",
     solver<class MinresSolver>,
     {.needs_symmetry = true, .supports_batch = true, .supports_resident_loop = true}},
    {"bicgstab",
     "BiCGStab for unsymmetric matrices, classical form, 5 kernels per iteration",
     solver<class BicgstabSolver>,
     {.supports_batch = true, .supports_resident_loop = true}},
    {"pipelined-bicgstab",
     "BiCGStab for unsymmetric matrices, pipelined form, 4 kernels per iteration",
     solver<class PipelinedBicgstabSolver>,
     {.supports_batch = true, .supports_resident_loop = true}},
    {"bicgstab-l", "BiCGStab(l) for unsymmetric matrices, 2 l products per iteration; l=L (1 to 8)",
     solver<class BicgstabLSolver>},
    {"idr", "IDR(s) for unsymmetric matrices, s + 1 products per cycle; s=S (1 to 16)",
     solver<class IdrSolver>},
    {"gmres",
     "GMRES for unsymmetric matrices; restart=M (1 to 256), orthogonalisation=mgs|cgs|cgs2",
     solver<class GmresSolver>},
    {"fgmres", "flexible GMRES, for preconditioners that change; options as gmres",
     solver<class FgmresSolver>},
    {"pipelined-gmres",
     "simpler GMRES for unsymmetric matrices, pipelined form, 3 kernels per iteration; restart=M",
     solver<class PipelinedGmresSolver>,
     {.supports_resident_loop = true}},
    {"ca-gmres",
     "communication-avoiding GMRES with s=S vectors at a time; restart=M; basis=newton|monomial; "
     "borth=cgs|mgs to orthogonalise new vectors against earlier ones; "
     "tsqr=mgs|cgs|cholqr|svqr|caqr to orthogonalise new vectors among themselves; passes=1|2; "
     "powers=auto|plain|blocked|streamed for the products with A, with depth=K block=ROWS "
     "memory=MB; errors=yes to measure the loss of orthogonality",
     solver<class CaGmresSolver>},
    {"richardson",
     "the stationary iteration x += M^-1 (b - A x), which converges if M is close to A",
     solver<class RichardsonSolver>},
    {"multigrid",
     "richardson with preconditioner multigrid; its options are set on the preconditioner",
     solver<class RichardsonSolver>,
     {.preconditioner = "multigrid"}}};

constexpr decltype(solvers) solvers("solver", solver_table);

std::string preconditioner_of(const LinearSolverOptions &options)
{
  const auto &solver = solvers.entry_of(options.solver);
  const char *const own = solver.traits.preconditioner;
  const auto &requested = preconditioners.entry_of(options.preconditioner);
  if (own != nullptr && requested.traits.is_automatic)
    return own;
  if (own != nullptr && std::string(own) != requested.name)
    throw ParameterError("Solver '" + std::string(solver.name) +
                             "' does not support preconditioner '" + requested.name +
                             "'. Use preconditioner " + own +
                             " or auto, or solver richardson, which takes any.",
                         "Solver/Preconditioner");
  return options.preconditioner;
}

SystemNorms measure(const RowSpace &space, const MeasuredSystem &system)
{
  return on_backend(space.executor()->backend(), [&](const auto on) {
    return measure_on<typename decltype(on)::Backend>(space, system);
  });
}
} // namespace femgpu::linalg
