#include "linalg/preconditioners/registry.h"

#include "linalg/base/scalar_types.h"
#include "linalg/preconditioners/own_block.h"

namespace femgpu::linalg
{
template <class Name>
constexpr auto *preconditioner = make_on_any<Name, Preconditioner>;

constexpr decltype(preconditioners)::Entry preconditioner_table[] = {
    {"auto",
     "jacobi, or multigrid where that is forecast to be faster, materials differ by more than 1e4, "
     "or a solve with jacobi has taken long; fsai before multigrid for structures from files",
     preconditioner<class JacobiPreconditioner>,
     {.is_fused = true,
      .divides_by_diagonal = true,
      .takes_ghosts = true,
      .takes_coordinates = true,
      .takes_coarser = true,
      .is_automatic = true}},
    {"identity",
     "no preconditioning",
     preconditioner<class IdentityPreconditioner>,
     {.is_fused = true, .takes_ghosts = true}},
    {"jacobi",
     "the diagonal of A",
     preconditioner<class JacobiPreconditioner>,
     {.is_fused = true, .divides_by_diagonal = true, .takes_ghosts = true}},
    {"block-jacobi", "the diagonal blocks of A; block=B (0: of a node)",
     preconditioner<class BlockJacobiPreconditioner>},
    {"chebyshev",
     "Chebyshev polynomial of the Jacobi-scaled A; degree=K (K-1 products with A), "
     "ratio=R of the ends of its interval, eigenvalue=lanczos|gershgorin for the upper one",
     preconditioner<class PolynomialPreconditioner>,
     {.takes_ghosts = true}},
    {"neumann",
     "truncated Neumann series of the Jacobi-scaled A; degree=K",
     preconditioner<class PolynomialPreconditioner>,
     {.takes_ghosts = true}},
    {"sai",
     "sparse approximate inverse, min |AM-I|; tau=0..1, power=1..3 for the pattern, "
     "longest=K entries of a column at most (256; 0: all), side=right|left (min |MA-I|); not "
     "symmetric",
     preconditioner<class SaiPreconditioner>,
     {.counts_by_int = true, .takes_ghosts = true, .has_factors = true}},
    {"fsai",
     "factorised sparse approximate inverse G'G of symmetric positive definite A; tau=0..1, "
     "power=1..3 for the pattern of G, grow=ROUNDS with drop=TOL for one that adapts itself",
     preconditioner<class FsaiPreconditioner>,
     {.counts_by_int = true, .takes_ghosts = true, .has_factors = true}},
    {"ainv",
     "factorised approximate inverse by biconjugation of the unit vectors; drop=TOL, fill=K for "
     "columns, order=shortest|colouring|natural|nested-dissection of the pivots, "
     "symmetric=auto|yes|no, scaling=diagonal|none, blocks=P, "
     "partition=contiguous|metis|geometry",
     preconditioner<class AinvPreconditioner>,
     {.counts_by_int = true, .has_factors = true}},
    {"sainv",
     "the same stabilised: for positive definite A the pivots are positive; options as ainv",
     preconditioner<class AinvPreconditioner>,
     {.counts_by_int = true, .has_factors = true}},
    {"ilu",
     "incomplete LU factors of blocks of A; level=K of fill, blocks=P|auto, "
     "partition=contiguous|metis|geometry, triangular=auto|levels|dependencies|sweeps "
     "for solves with them, sweeps=K|auto",
     preconditioner<class IluPreconditioner>,
     {.counts_by_int = true}},
    {"ic",
     "incomplete Cholesky factors of blocks of a symmetric A; options as ilu",
     preconditioner<class IluPreconditioner>,
     {.counts_by_int = true}},
    {"two-stage",
     "outer=M steps of block Jacobi with inner=Q steps of ilu, or factor=ic; options as ilu",
     preconditioner<class IluPreconditioner>,
     {.counts_by_int = true}},
    {"multigrid",
     "cycles over coarser levels: lower degrees and coarser meshes, where they are known, then "
     "aggregates, smoothed where A is symmetric; coarsening=auto|aggregation, theta=0..1 of strong "
     "connections, smoother=chebyshev|l1-jacobi|block-jacobi|fsai|sai with degree=K, "
     "values=float|double in the cycle's products with A, cycle=V|W, block=B unknowns of a node "
     "(0: as known), near-null=auto|constants|rigid-body, coarsest=ROWS that are inverted, "
     "times=yes to time each level of a cycle",
     preconditioner<class MultigridPreconditioner>,
     {.takes_ghosts = true, .takes_coordinates = true, .takes_coarser = true}}};

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

void OwnBlockPreconditioner::setup(const Matrix &A)
{
  block.reset();
  if (A.range()->communicator() != nullptr)
    block = on_backend(A.executor()->backend(), [&](const auto on) {
      return make_own_block<typename decltype(on)::Backend>(A.csr());
    });
  M->setup(block ? block->matrix() : A);
}

void OwnBlockPreconditioner::update(const Matrix &A)
{
  if (block)
    block->update(A.csr());
  M->update(block ? block->matrix() : A);
}

SetupReport OwnBlockPreconditioner::setup_report() const
{
  SetupReport report = M->setup_report();
  if (block)
    report.remarks =
        "of each part's own block" + (report.remarks.empty() ? "" : "; " + report.remarks);
  return report;
}

std::unique_ptr<Preconditioner> make_preconditioner(const std::string &text,
                                                    const BackendKind backend)
{
  std::unique_ptr<Preconditioner> M = preconditioners.make(text, backend);
  if (preconditioners.traits(text).takes_ghosts)
    return M;
  return std::make_unique<OwnBlockPreconditioner>(std::move(M));
}

void apply(const Preconditioner &M, const Executor &executor, Buffer<double> &r, Buffer<double> &z)
{
  on_backend(executor.backend(),
             [&](const auto on) { apply_on<typename decltype(on)::Backend>(M, executor, r, z); });
}
} // namespace femgpu::linalg
