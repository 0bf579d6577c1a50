#include "linalg/preconditioners/incomplete/jacobi_sweep_solver.h"
#include "linalg/preconditioners/incomplete/triangular_solver.h"
#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/sparse/symmetry.h"

#include <cmath>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
/// Numbers of outer and inner steps of the two-stage method.
struct StepCounts
{
  int outer = 1; ///< m
  int inner = 1; ///< q
};

/**
 * The operator that applies m outer and q inner steps of the block two-stage method to A s = r,
 * starting from s = 0 (Galiano et al. 2012, Algorithm 3). A is split into A = P − Q, where P are
 * the diagonal blocks of A, and P into M − R with the incomplete factors M = L U. An outer step of
 * the algorithm begins with y = s and takes q inner steps
 *
 *     M y' = R y + Q s + r.
 *
 * This implementation uses corrections: let y = s + e, so that e = 0 initially. With R = M − P and
 * Q = P − A, M (s + e') = (M − P)(s + e) + (P − A) s + r. Hence
 *
 *     e' = e + M⁻¹ ((r − A s) − P e);  in the end s' = s + e.
 *
 * In the first outer step r − A s = r, and in the first inner step P e = 0. Products with A use the
 * matrix format of the solver; vectors y and e are in the order of the blocks.
 */
template <class Backend>
class TwoStageOperator final : public PreconditionerOperator
{
public:
  TwoStageOperator(const Matrix &A, const BlockPartition &blocks, const TriangularSolver &factors,
                   std::shared_ptr<const CsrMatrix> P, const StepCounts &steps)
      : PreconditionerOperator(A.range()), A(A), P(std::move(P)), blocks(blocks), factors(factors),
        steps(steps), s(vector(true)), residual(vector(steps.outer > 1)),
        e(vector(steps.inner > 1)), t(vector(steps.inner > 1))
  {}

  View view() const override
  {
    return StoredView{A.n(), s.data()};
  }

  const double *prepare(StepRunner &runner, double *r) const override
  {
    auto &run = static_cast<Runner<Backend> &>(runner);
    inner_steps(run, r, false);
    for (int l = 1; l < steps.outer; ++l) {
      subtract_product(run, A, s.data(), {r, nullptr, residual.data(), nullptr, false});
      inner_steps(run, residual.data(), true);
    }
    return r;
  }

  std::size_t bytes() const
  {
    const auto outer = static_cast<std::size_t>(steps.outer);
    const auto inner = static_cast<std::size_t>(steps.inner);
    const std::size_t products = outer * (inner - 1);
    std::size_t sum = outer * inner * (factors.bytes() + 2 * blocks.bytes()) +
                      (outer - 1) * (A.bytes() + 3 * residual.bytes()) + 2 * s.bytes();
    if (products > 0)
      sum += products * (P->bytes() + 3 * t.bytes());
    return sum;
  }

  /// Computes v.z = v.b − B y.
  template <class Operator>
  static void subtract_product(Runner<Backend> &run, const Operator &B, double *const y,
                               const SolveVectors &v)
  {
    run.run(product(
        B, y, [v] FEMGPU_BODY(const int i, const double By_i) { v.write(i, v.read(i) - By_i); }));
  }

private:
  Buffer<double> vector(const bool is_needed) const
  {
    return {A.executor(), is_needed ? static_cast<std::size_t>(A.n()) : 0};
  }

  /// Computes s = G r or, if @p adds is true, s += G r, where G is the operator of q inner steps.
  void inner_steps(Runner<Backend> &run, const double *r, const bool adds) const
  {
    const int *const order = blocks.host.order.empty() ? nullptr : blocks.view().order;
    const SolveVectors outside{r, order, s.data(), order, adds};
    if (steps.inner == 1)
      return factors.solve(run, outside);
    factors.solve(run, {r, order, e.data(), nullptr, false});
    for (int k = 1; k < steps.inner; ++k) {
      subtract_product(run, *P, e.data(), {r, order, t.data(), nullptr, false});
      factors.solve(run, {t.data(), nullptr, e.data(), nullptr, true});
    }
    write_vector(run, A.n(), outside, e.data());
  }

  const Matrix &A;
  std::shared_ptr<const CsrMatrix> P; ///< nullptr if there is only one inner step
  const BlockPartition &blocks;
  const TriangularSolver &factors;
  StepCounts steps;
  mutable Buffer<double> s, residual, e, t;
};

/**
 * Incomplete LU factors of the diagonal blocks of A, and the block two-stage method based on them
 * (Galiano et al. 2012). `ilu` and `ic` are this method with one step, M = L U.
 *
 * Use: PCG and BiCGStab if Jacobi needs too many iterations. Blocks are processed in parallel; more
 * blocks lead to more iterations. level=κ is the fill level; κ = 0: the pattern of A. Needs:
 * nonzero pivots; with factor=ic also a symmetric A with positive pivots. If pivots are bad, A + α
 * diag(A) is factorised instead, which the report mentions. For a symmetric A, the factors and
 * hence all steps are symmetric. They need not be definite. With odd numbers of outer and inner
 * steps they are definite if M and A are. With an even number of inner steps, 2M − A must be
 * definite too; with an even number of outer steps, 2P − A (Adams 1985). CG detects indefiniteness.
 * Cost: an application solves with L and U outer · inner times, and multiplies with A outer − 1
 * times and with its diagonal blocks outer · (inner − 1) times. Fails: a SolverError names the
 * first row with a bad pivot.
 */
template <class Backend>
class BlockTwoStage final : public OperatorPreconditioner<TwoStageOperator<Backend>>
{
public:
  explicit BlockTwoStage(Method &method)
      : OperatorPreconditioner<TwoStageOperator<Backend>>(method, true),
        requested_blocks(method.integer_or("blocks", "auto", 0, 1, max_blocks)),
        partition_kind(method.word("partition", "contiguous", partition_choices())),
        level(method.integer("level", 0, 0, 10)), is_cholesky(kind == "ic"),
        triangular(method.word("triangular", "auto", {"auto", "levels", "dependencies", "sweeps"})),
        sweeps(method.integer_or("sweeps", "auto", 0, 1, 100))
  {
    check_partition(partition_kind);
    if (kind != "two-stage")
      return;
    steps.outer = method.integer("outer", 1, 1, 100);
    steps.inner = method.integer("inner", 1, 1, 100);
    is_cholesky = method.word("factor", "ilu", {"ilu", "ic"}) == "ic";
  }

  void setup(const Matrix &A) override
  {
    const ExecutorPtr &owner = A.executor();
    this->inverse.reset();
    triangles.reset();
    P.reset();
    factors.reset();
    detect_symmetry(A.csr());
    blocks = std::make_unique<BlockPartition>(owner, make_blocks(A.csr()));
    const bool on_host = owner->backend() == BackendKind::host;
    factors = std::make_unique<IncompleteFactors<Backend>>(A.csr(), *blocks, level, is_cholesky,
                                                           !on_host || triangular == "levels");
    triangles = make_triangles();
    if (steps.inner > 1)
      P = std::make_unique<DerivedMatrix<Backend>>(A.csr(), A.n(),
                                                   block_diagonal<Backend>(A.csr(), *blocks));
    this->inverse = std::make_unique<TwoStageOperator<Backend>>(A, *blocks, *triangles,
                                                                P ? P->matrix() : nullptr, steps);
    n_nonzeros_of_A = A.n_nonzeros();
    set_values(A.csr());
  }

  void update(const Matrix &A) override
  {
    detect_symmetry(A.csr());
    set_values(A.csr());
    if (P)
      P->update(A.csr());
  }

private:
  static constexpr int max_blocks = 1 << 24;

  void detect_symmetry(const CsrMatrix &A)
  {
    const int first = first_unsymmetric_row<Backend>(A);
    this->preserves_symmetry = first < 0;
    if (is_cholesky && first >= 0)
      throw SolverError("Preconditioner '" + kind + "' with incomplete Cholesky factors needs a " +
                        "symmetric matrix, but row " + std::to_string(first) +
                        " differs from its column. Use ilu, or factor=ilu.");
  }

  void set_values(const CsrMatrix &A)
  {
    factors->factorise(A);
    triangles->update();
    this->report = {factors->n_nonzeros(), remarks()};
  }

  Partition make_blocks(const CsrMatrix &A) const
  {
    return make_partition(partition_kind, A,
                          requested_blocks > 0 ? requested_blocks : automatic_blocks(A));
  }

  /// Returns how triangles are solved. On a GPU, Jacobi sweeps are much faster than exact solves if
  /// they converge (docs/appendix_preconditioners.md). On the host, exact solves cost less than two
  /// sweeps.
  std::string triangular_solver(const Executor &executor) const
  {
    if (triangular != "auto")
      return triangular;
    return executor.backend() == BackendKind::host ? "levels" : "sweeps";
  }

  /// Returns a number of blocks that does not depend on the number of threads. The cores of a host
  /// need a few blocks; with fewer blocks, solvers take fewer iterations. With triangular=levels, a
  /// GPU needs hundreds of blocks that fit the shared memory of its thread blocks; its other
  /// triangular solvers need only one block.
  int automatic_blocks(const CsrMatrix &A) const
  {
    constexpr int rows_per_thread_block = 2048, rows_per_core = 65536;
    constexpr int min_blocks = 8, min_rows = 4096;
    if (A.executor()->backend() == BackendKind::host)
      return A.n() < min_rows ? 1
                              : std::max(min_blocks, (A.n() + rows_per_core - 1) / rows_per_core);
    return triangular_solver(*A.executor()) == "levels"
               ? (A.n() + rows_per_thread_block - 1) / rows_per_thread_block
               : 1;
  }

  std::unique_ptr<TriangularSolver> make_triangles() const
  {
    const std::string solver_name = triangular_solver(*factors->executor());
    if (solver_name == "sweeps")
      return std::make_unique<JacobiSweepSolver<Backend>>(*factors, sweeps);
    if (solver_name == "levels")
      return std::make_unique<BlockwiseSolver<Backend>>(*factors);
    return std::make_unique<DependencySolver<Backend>>(*factors);
  }

  std::string remarks() const
  {
    const PivotReport &pivots = factors->pivots();
    const double in_blocks = static_cast<double>(factors->n_nonzeros_in_blocks());
    const double outside =
        n_nonzeros_of_A > 0 ? 1. - in_blocks / static_cast<double>(n_nonzeros_of_A) : 0.;
    std::ostringstream text;
    text.precision(3);
    text << (is_cholesky ? "IC(" : "ILU(") << level << ") in " << blocks->host.n_blocks() << " "
         << partition_kind << " blocks";
    if (requested_blocks > blocks->host.n_blocks())
      text << " (" << requested_blocks << " requested)";
    text << " of up to " << blocks->host.largest_block() << " rows, "
         << 100. * std::max(outside, 0.) << " % of A outside the blocks, fill "
         << static_cast<double>(factors->n_nonzeros()) / std::max(in_blocks, 1.) << ", up to "
         << factors->schedule().lower.n_levels << " levels, triangles by " << triangles->name();
    if (pivots.n_bad > 0)
      text << ", " << pivots.n_bad << (is_cholesky ? " pivots not positive" : " pivots nearly zero")
           << ", the first in row " << pivots.first_row << ": factors of A + " << pivots.alpha
           << " diag(A)";
    return text.str();
  }

  using OperatorPreconditioner<TwoStageOperator<Backend>>::kind;
  int requested_blocks; ///< 0: automatic
  std::string partition_kind;
  int level;
  bool is_cholesky;
  std::string triangular;
  int sweeps; ///< 0: as many as needed
  StepCounts steps;

  std::size_t n_nonzeros_of_A = 0;
  std::unique_ptr<BlockPartition> blocks;
  std::unique_ptr<IncompleteFactors<Backend>> factors;
  std::unique_ptr<TriangularSolver> triangles;
  std::unique_ptr<DerivedMatrix<Backend>> P; ///< the diagonal blocks, in the order of the blocks
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class IluPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<BlockTwoStage<ThisBackend>>(method);
}
} // namespace femgpu::linalg
