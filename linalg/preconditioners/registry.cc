#include "linalg/preconditioners/registry.h"

#include "linalg/base/scalar_types.h"
#include "linalg/preconditioners/local_block.h"

namespace femgpu::linalg
{
template <class Name>
constexpr auto *preconditioner = make_on_any<Name, Preconditioner>;

constexpr decltype(preconditioners)::Entry preconditioner_table[] = {
    {"auto",
     "jacobi, or multigrid if it is forecast to be faster, if materials differ by more than 1e4, "
     "or if a solve with jacobi takes too long; for structural matrices from files, auto tries "
     "fsai first, and then multigrid",
     preconditioner<class JacobiPreconditioner>,
     {.is_fused = true,
      .divides_by_diagonal = true,
      .supports_ghosts = true,
      .uses_coordinates = true,
      .uses_coarser_spaces = true,
      .is_automatic = true}},
    {"identity",
     "no preconditioning",
     preconditioner<class IdentityPreconditioner>,
     {.is_fused = true, .supports_ghosts = true}},
    {"jacobi",
     "the inverse of the diagonal of A",
     preconditioner<class JacobiPreconditioner>,
     {.is_fused = true, .divides_by_diagonal = true, .supports_ghosts = true}},
    {"block-jacobi",
     "the inverses of the diagonal blocks of A; block=B rows (0: the unknowns of a node)",
     preconditioner<class BlockJacobiPreconditioner>},
    {"chebyshev",
     "Chebyshev polynomial of the Jacobi-scaled A; degree=K (K-1 products with A), ratio=R of the "
     "largest to the smallest eigenvalue of the interval, eigenvalue=lanczos|gershgorin for the "
     "bound of the largest",
     preconditioner<class PolynomialPreconditioner>,
     {.supports_ghosts = true}},
    {"neumann",
     "truncated Neumann series of the Jacobi-scaled A; degree=K",
     preconditioner<class PolynomialPreconditioner>,
     {.supports_ghosts = true}},
    {"sai",
     "sparse approximate inverse, min |AM-I|; tau=0..1, power=1..3 for the pattern, longest=K, the "
     "maximum number of entries per column of its first power (256; 0: unlimited), side=right|left "
     "(left: min |MA-I|); M is unsymmetric",
     preconditioner<class SaiPreconditioner>,
     {.uses_int_offsets = true, .supports_ghosts = true, .has_factors = true}},
    {"fsai",
     "factorised sparse approximate inverse G'G of symmetric positive definite A; tau=0..1, "
     "power=1..3 for the pattern of G, grow=ROUNDS with drop=TOL for an adaptive pattern",
     preconditioner<class FsaiPreconditioner>,
     {.uses_int_offsets = true, .supports_ghosts = true, .has_factors = true}},
    {"ainv",
     "factorised approximate inverse by biconjugation of the unit vectors; drop=TOL, fill=K, the "
     "maximum number of entries per column, order=shortest|colouring|natural|nested-dissection of "
     "the pivots, symmetric=auto|yes|no, scaling=diagonal|none, blocks=P, "
     "partition=contiguous|metis|geometry",
     preconditioner<class AinvPreconditioner>,
     {.uses_int_offsets = true, .has_factors = true}},
    {"sainv",
     "stabilised ainv, whose pivots are positive for positive definite A; options as ainv",
     preconditioner<class AinvPreconditioner>,
     {.uses_int_offsets = true, .has_factors = true}},
    {"ilu",
     "incomplete LU factorisation of diagonal blocks of A; level=K of fill, blocks=P|auto, "
     "partition=contiguous|metis|geometry, triangular=auto|levels|dependencies|sweeps for the "
     "triangular solves, sweeps=K|auto",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"ic",
     "incomplete Cholesky factorisation of diagonal blocks of a symmetric A; options as ilu",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"two-stage",
     "outer=M steps of block Jacobi, each with inner=Q steps of ilu, or of ic with factor=ic; "
     "options as ilu",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"multigrid",
     "V- or W-cycles over coarser levels: lower degrees and coarser meshes if they are known, "
     "then smoothed aggregation, or plain aggregation if A is unsymmetric; "
     "coarsening=auto|aggregation, theta=0..1 for strong connections, "
     "smoother=chebyshev|l1-jacobi|block-jacobi|fsai|sai with degree=K, values=float|double for "
     "the products with A in a cycle, cycle=V|W, block=B unknowns per node (0: as known), "
     "near-null=auto|constants|rigid-body, coarsest=ROWS, the size up to which the coarsest matrix "
     "is inverted, times=yes to time each level of a cycle",
     preconditioner<class MultigridPreconditioner>,
     {.supports_ghosts = true, .uses_coordinates = true, .uses_coarser_spaces = true}}};

constexpr decltype(preconditioners) preconditioners("preconditioner", preconditioner_table);

std::vector<Choice> preconditioner_choices()
{
  std::vector<Choice> choices;
  for (const auto &entry : preconditioners)
    choices.push_back({entry.name, entry.traits.has_factors
                                       ? std::string(entry.meaning) + "; " + FactorScalars::option()
                                       : entry.meaning});
  return choices;
}

void LocalBlockPreconditioner::setup(const Matrix &A)
{
  block.reset();
  if (A.range()->communicator() != nullptr)
    block = on_backend(A.executor()->backend(), [&](const auto on) {
      return make_local_block<typename decltype(on)::Backend>(A.csr());
    });
  M->setup(block ? block->matrix() : A);
}

void LocalBlockPreconditioner::update(const Matrix &A)
{
  if (block)
    block->update(A.csr());
  M->update(block ? block->matrix() : A);
}

SetupReport LocalBlockPreconditioner::setup_report() const
{
  SetupReport report = M->setup_report();
  if (block)
    report.remarks = "of each subdomain's diagonal block" +
                     (report.remarks.empty() ? "" : "; " + report.remarks);
  return report;
}

std::unique_ptr<Preconditioner> make_preconditioner(const std::string &text,
                                                    const BackendKind backend)
{
  std::unique_ptr<Preconditioner> M = preconditioners.make(text, backend);
  if (preconditioners.traits(text).supports_ghosts)
    return M;
  return std::make_unique<LocalBlockPreconditioner>(std::move(M));
}

void apply(const Preconditioner &M, const Executor &executor, Buffer<double> &r, Buffer<double> &z)
{
  on_backend(executor.backend(),
             [&](const auto on) { apply_on<typename decltype(on)::Backend>(M, executor, r, z); });
}
} // namespace femgpu::linalg
