#include "linalg/preconditioners/registry.h"

#include "linalg/base/scalar_types.h"
#include "linalg/preconditioners/local_block.h"

namespace femgpu::linalg
{
template <class Name>
constexpr auto *preconditioner = make_on_any<Name, Preconditioner>;

constexpr decltype(preconditioners)::Entry preconditioner_table[] = {
    {"auto",
     "jacobi or multigrid. It is multigrid if this is forecast to be faster, or if diagonal "
     "entries differ by more than a factor of 1e4; otherwise jacobi, until its solves have taken "
     "too long. For structural matrices from files, fsai follows jacobi, and multigrid follows "
     "fsai",
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
     "the inverses of the diagonal blocks of A. Option: block=B, the rows of a block (0: the "
     "unknowns of a node)",
     preconditioner<class BlockJacobiPreconditioner>},
    {"chebyshev",
     "Chebyshev polynomial of the Jacobi-scaled A. Options: degree=K, which takes K-1 products "
     "with A; ratio=R, the largest divided by the smallest eigenvalue of the interval; "
     "eigenvalue=lanczos|gershgorin, the estimate of the largest eigenvalue",
     preconditioner<class PolynomialPreconditioner>,
     {.supports_ghosts = true}},
    {"neumann",
     "truncated Neumann series of the Jacobi-scaled A. Option: degree=K, as for chebyshev",
     preconditioner<class PolynomialPreconditioner>,
     {.supports_ghosts = true}},
    {"sai",
     "sparse approximate inverse M, which is unsymmetric. Options: side=right|left, to minimise "
     "|AM-I| or |MA-I|; tau=0..1, for the set S of the large entries of A (1: all entries); "
     "power=1..3, to use the pattern of this power of S; longest=K, the maximum number of entries "
     "per column of S (256; 0: unlimited)",
     preconditioner<class SaiPreconditioner>,
     {.uses_int_offsets = true, .supports_ghosts = true, .has_factors = true}},
    {"fsai",
     "factorised sparse approximate inverse G'G of a symmetric positive definite A. Options: "
     "tau=0..1 and power=1..3, the pattern of G, as for sai; grow=ROUNDS, the rounds that adapt "
     "this pattern; drop=TOL, below which a round drops entries",
     preconditioner<class FsaiPreconditioner>,
     {.uses_int_offsets = true, .supports_ghosts = true, .has_factors = true}},
    {"ainv",
     "factorised approximate inverse by biconjugation of the unit vectors. Options: drop=TOL, "
     "below which entries are dropped; fill=K, the maximum number of off-diagonal entries per "
     "column (0: unlimited); order=shortest|colouring|natural|nested-dissection, the order of the "
     "pivots; symmetric=auto|yes|no, where yes computes one factor and no two; "
     "scaling=diagonal|none, to scale A to a unit diagonal or not; blocks=P and "
     "partition=contiguous|metis|geometry, as for ilu",
     preconditioner<class AinvPreconditioner>,
     {.uses_int_offsets = true, .has_factors = true}},
    {"sainv",
     "stabilised ainv, whose pivots are positive for positive definite A. It has the options of "
     "ainv",
     preconditioner<class AinvPreconditioner>,
     {.uses_int_offsets = true, .has_factors = true}},
    {"ilu",
     "incomplete LU factorisation of diagonal blocks of A. Options: level=K, the level of fill; "
     "blocks=P|auto, the number of blocks; partition=contiguous|metis|geometry, which forms them "
     "by row numbers, the graph of A or coordinates; triangular=auto|levels|dependencies|sweeps, "
     "the algorithm of the triangular solves; sweeps=K|auto, the number of Jacobi sweeps of a "
     "solve",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"ic",
     "incomplete Cholesky factorisation of diagonal blocks of a symmetric A. It has the options of "
     "ilu",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"two-stage",
     "block Jacobi, whose blocks are solved by steps of incomplete factors. Options: outer=M, the "
     "steps with A; inner=Q, the steps with the blocks in each of these; factor=ilu|ic, the "
     "factors; all options of ilu",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"multigrid",
     "V- or W-cycles over coarser levels. These are lower degrees and coarser meshes if they are "
     "known, then smoothed aggregation, or plain aggregation if A is unsymmetric. Options: "
     "coarsening=auto|aggregation, all of these levels or aggregation alone; theta=0..1, the "
     "threshold of strong connections; smoother=chebyshev|l1-jacobi|block-jacobi|fsai|sai; "
     "degree=K, the degree or the number of steps of the smoother; values=float|double, the "
     "precision of A in a cycle; cycle=V|W; block=B, the unknowns per node (0: as known); "
     "near-null=auto|constants|rigid-body, the near-null vectors; coarsest=ROWS, the maximum size "
     "of the coarsest matrix, which is inverted; times=yes, to report the time of each level",
     preconditioner<class MultigridPreconditioner>,
     {.supports_ghosts = true, .uses_coordinates = true, .uses_coarser_spaces = true}}};

constexpr decltype(preconditioners) preconditioners("preconditioner", preconditioner_table);

std::vector<Choice> preconditioner_choices()
{
  std::vector<Choice> choices;
  for (const auto &entry : preconditioners)
    choices.push_back({entry.name, entry.traits.has_factors
                                       ? std::string(entry.meaning) + "; " +
                                             FactorScalars::option() +
                                             ", the precision of the stored entries"
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
