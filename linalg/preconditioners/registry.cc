#include "linalg/preconditioners/registry.h"

#include "linalg/execution/dispatch_product.h"
#include "linalg/preconditioners/multigrid/dense_inverse.h"

#include "linalg/base/scalar_types.h"
#include "linalg/preconditioners/local_block.h"

namespace femgpu::linalg
{
template <class Name>
constexpr auto *preconditioner = make_on_any<Name, Preconditioner>;

constexpr decltype(preconditioners)::Entry preconditioner_table[] = {
    {"auto",
     "jacobi or multigrid. auto starts with multigrid if this is forecast to be faster, or if "
     "diagonal entries differ by more than a factor of 1e4. Otherwise it starts with jacobi, and "
     "changes to multigrid when the solves have taken too long. For structural matrices from "
     "files, it changes from jacobi to fsai, and from fsai to multigrid",
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
     "the inverses of the diagonal blocks of A. Option: block=B, the number of rows of a block (0: "
     "the number of unknowns per node)",
     preconditioner<class BlockJacobiPreconditioner>},
    {"chebyshev",
     "Chebyshev polynomial of the Jacobi-scaled A. Options: degree=K, which takes K-1 products "
     "with A; ratio=R, the ratio of the largest to the smallest eigenvalue of the interval; "
     "eigenvalue=lanczos|gershgorin, how the largest eigenvalue is estimated",
     preconditioner<class PolynomialPreconditioner>,
     {.supports_ghosts = true}},
    {"neumann",
     "truncated Neumann series of the Jacobi-scaled A. Option: degree=K, as for chebyshev",
     preconditioner<class PolynomialPreconditioner>,
     {.supports_ghosts = true}},
    {"sai",
     "sparse approximate inverse M, which is unsymmetric. Options: side=right|left, which "
     "minimises |AM-I| or |MA-I|; tau=0..1, which defines the matrix S of the large entries of A "
     "(1: all entries); power=1..3, which gives M the pattern of this power of S; longest=K, the "
     "maximum number of entries per column of S (256; 0: unlimited)",
     preconditioner<class SaiPreconditioner>,
     {.uses_int_offsets = true, .supports_ghosts = true, .has_factors = true}},
    {"fsai",
     "factorised sparse approximate inverse G'G of a symmetric positive definite A. Options: "
     "tau=0..1 and power=1..3, which define the pattern of G as for sai; grow=ROUNDS, the number "
     "of rounds that adapt this pattern; drop=TOL, the relative size below which a round drops "
     "entries",
     preconditioner<class FsaiPreconditioner>,
     {.uses_int_offsets = true, .supports_ghosts = true, .has_factors = true}},
    {"ainv",
     "factorised approximate inverse by biconjugation of the unit vectors. Options: drop=TOL, the "
     "size below which entries are dropped; fill=K, the maximum number of off-diagonal entries per "
     "column (0: unlimited); order=shortest|colouring|natural|nested-dissection, the order of the "
     "pivots; symmetric=yes|no|auto, whether A is treated as symmetric (yes: one factor; no: two "
     "factors; auto: by the symmetry of A); scaling=diagonal|none, whether A is first scaled to a "
     "unit diagonal; blocks=P and partition=contiguous|metis|geometry, as for ilu",
     preconditioner<class AinvPreconditioner>,
     {.uses_int_offsets = true, .has_factors = true}},
    {"sainv",
     "stabilised ainv, whose pivots are positive for positive definite A. Options: those of ainv",
     preconditioner<class AinvPreconditioner>,
     {.uses_int_offsets = true, .has_factors = true}},
    {"ilu",
     "incomplete LU factorisation of diagonal blocks of A. Options: level=K, the level of fill; "
     "blocks=P|auto, the number of blocks; partition=contiguous|metis|geometry, which forms the "
     "blocks by row numbers, by the graph of A or by coordinates; "
     "triangular=levels|dependencies|sweeps|auto, the algorithm of the triangular solves (levels: "
     "level by level; dependencies: each row waits for the rows that it needs; sweeps: Jacobi "
     "sweeps; auto: levels on the host, sweeps on a GPU); sweeps=K|auto, the number of Jacobi "
     "sweeps per solve",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"ic",
     "incomplete Cholesky factorisation of diagonal blocks of a symmetric A. It has the options of "
     "ilu",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"two-stage",
     "block Jacobi iteration, whose blocks are solved by iterations with incomplete factors. "
     "Options: outer=M, the number of steps with A; inner=Q, the number of steps with the blocks "
     "in each step with A; factor=ilu|ic, the kind of factors; all options of ilu",
     preconditioner<class IluPreconditioner>,
     {.uses_int_offsets = true}},
    {"multigrid",
     "V- or W-cycles over coarser levels. The first levels are lower degrees and coarser meshes, "
     "if these are known. The remaining levels come from aggregation, which is smoothed if A is "
     "symmetric. Options: coarsening=auto|aggregation, all of these levels or aggregation alone; "
     "theta=0..1, the threshold of strong connections; "
     "smoother=chebyshev|l1-jacobi|block-jacobi|fsai|sai; degree=K, the degree of the smoother or "
     "its number of steps; values=float|double, the precision of A in a cycle; cycle=V|W, the kind "
     "of cycle; block=B, the number of unknowns per node (0: as known); "
     "near-null=auto|constants|rigid-body, the near-null vectors; coarsest=ROWS, the maximum size "
     "of the coarsest matrix, which is inverted; times=yes, which reports the time of each level",
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

template void store_product(const ViewedOperator<DenseView> &, const Vector<double> &,
                            Vector<double> &);
} // namespace femgpu::linalg
