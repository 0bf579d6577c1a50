#include "linalg/base/timing.h"
#include "linalg/base/trace_range.h"
#include "linalg/preconditioners/multigrid/hierarchy.h"
#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/steps/row_bodies.h"

namespace femgpu::linalg
{
namespace
{
/// A multigrid cycle that starts from 0 and smooths before and after the coarse-grid correction.
template <class Backend>
class MultigridOperator final : public PreconditionerOperator
{
public:
  /// @param cycle_index number of visits to the next level: 1 for a V-cycle, 2 for a W-cycle
  MultigridOperator(const Matrix &A, const HierarchyOptions &options, const int cycle_index)
      : PreconditionerOperator(A.range()), hierarchy(A, options), cycle_index(cycle_index)
  {
    for (const Level<Backend> &level : hierarchy.levels())
      vectors.push_back({vectors.empty() ? Buffer<double>() : vector_of(level), vector_of(level),
                         vector_of(level)});
  }

  View view() const override
  {
    const Level<Backend> &finest = hierarchy.levels().front();
    const bool is_other = finest.smoother && finest.smoother->swaps(true) !=
                                                 (finest.next && finest.smoother->swaps(false));
    return StoredView{n(), is_other ? vectors[0].other.data() : vectors[0].x.data()};
  }

  const double *prepare(StepRunner &runner, double *r) const override
  {
    cycle(static_cast<Runner<Backend> &>(runner), 0, r, vectors[0].all(), true, [](std::size_t) {});
    return r;
  }
  /// Returns the seconds that each level takes in a cycle.
  std::vector<double> measure_cycle() const
  {
    const Level<Backend> &finest = hierarchy.levels().front();
    const ExecutorPtr &executor = finest.A->executor();
    Runner<Backend> runner(*executor);
    Buffer<double> r = vector_of(finest);
    r.fill_zero();
    std::vector<double> seconds;
    for (int k = 0; k < 2; ++k) { // the first cycle loads kernels
      seconds.assign(vectors.size(), 0.);
      executor->synchronize();
      Stopwatch watch;
      cycle(runner, 0, r.data(), vectors[0].all(), true, [&](const std::size_t level) {
        executor->synchronize();
        seconds[level] += watch.lap();
      });
    }
    return seconds;
  }
  bool is_capturable() const override
  {
    return hierarchy.levels().front().A->is_capturable();
  }

  /// Returns the bytes that one cycle reads and writes on all levels. For each visit of a level,
  /// counts the smoothers, a product with A and three vectors, and one or two vectors for the
  /// products with P and Pᵀ.
  std::size_t bytes() const
  {
    std::size_t sum = 0, n_visits = 1;
    for (const Level<Backend> &level : hierarchy.levels()) {
      const std::size_t vector = sizeof(double) * static_cast<std::size_t>(level.A->n());
      std::size_t once = 0;
      if (level.smoother)
        once = level.smoother->bytes(true);
      else
        once = hierarchy.inverse()->bytes() + 2 * vector;
      if (level.next)
        once += level.smoother->bytes(false) + level.smoother->matrix().bytes() +
                2 * level.next->P().bytes() + 6 * vector;
      sum += n_visits * once;
      n_visits *= static_cast<std::size_t>(cycle_index);
    }
    return sum;
  }

  Hierarchy<Backend> hierarchy;

private:
  struct Vectors
  {
    Buffer<double> r; ///< empty on the finest level, which uses the solver's vector
    Buffer<double> x, other;

    PolynomialVectors all()
    {
      return {x.data(), other.data()};
    }
  };

  static Buffer<double> vector_of(const Level<Backend> &level)
  {
    return level.A->domain()->make_vector();
  }

  /// Improves the solution of A x = r on a level. Returns where x is stored.
  /// @param on_level_end on_level_end(level) is called whenever the cycle leaves a level
  template <class Callback>
  PolynomialVectors cycle(Runner<Backend> &run, const std::size_t l, double *r, PolynomialVectors v,
                          const bool from_zero, const Callback &on_level_end) const
  {
    const TraceRange range("cycle, level", l);
    const Level<Backend> &level = hierarchy.levels()[l];
    if (level.smoother)
      v = level.smoother->smooth(run, r, v, from_zero);
    else
      run.run(product(*hierarchy.inverse(), r, StoreProduct{v.x}));
    if (level.next) {
      run.run(product(level.smoother->matrix(), v.x, StoreResidual{r, v.other}));
      double *const coarse_r = vectors[l + 1].r.data();
      run.run(product(*level.next->coarse->restriction(), v.other, StoreProduct{coarse_r}));
      level.next->P().domain()->compress(run, coarse_r);
      on_level_end(l);
      PolynomialVectors correction = vectors[l + 1].all();
      const int n_visits = hierarchy.levels()[l + 1].next ? cycle_index : 1;
      for (int visit = 0; visit < n_visits; ++visit)
        correction = cycle(run, l + 1, coarse_r, correction, visit == 0, on_level_end);
      run.run(product(level.next->P(), correction.x, AddProduct{v.x}));
      v = level.smoother->smooth(run, r, v, false);
    }
    on_level_end(l);
    return v;
  }

  int cycle_index;
  mutable std::vector<Vectors> vectors; // a preconditioner is used by one solver at a time
};

/**
 * Multigrid by supplied prolongations and aggregation: a hierarchy of matrices Pᵀ A P, and a cycle
 * over it (hierarchy.h).
 *
 * Use: large systems of elliptic equations, because iteration counts hardly grow with the number of
 * unknowns; small systems need less set-up and fewer steps with Jacobi. Options: coarsening, by
 * lower degrees and coarser meshes (if known) and then by aggregates, or by aggregates alone;
 * theta, the threshold of strong connections; smoother and its degree; values, the type of the
 * matrices in a cycle; cycle=W for hard problems; block and near-null for systems of equations;
 * coarsest, the number of rows up to which a matrix is inverted; times, to report the times of a
 * cycle. Needs: a positive diagonal; A symmetric positive definite, or unsymmetric and almost an
 * M-matrix; P is not smoothed for unsymmetric A. Cost: a cycle multiplies 2 · degree times with A,
 * and on the other levels with matrices that together have a fraction of A's entries. Fails:
 * iteration counts grow for wave equations or little diffusion.
 */
template <class Backend>
class Multigrid final : public OperatorPreconditioner<MultigridOperator<Backend>>
{
public:
  explicit Multigrid(Method &method)
      : OperatorPreconditioner<MultigridOperator<Backend>>(method, true),
        cycle_index(method.word("cycle", "V", {"V", "W"}) == "W" ? 2 : 1),
        times_cycle(method.word("times", "no", {"no", "yes"}) == "yes")
  {
    options.uses_supplied_levels =
        method.word("coarsening", "auto", {"auto", "aggregation"}) == "auto";
    options.theta = method.number("theta", 0.02, 0., 1.);
    options.smoother.name = method.word("smoother", "chebyshev",
                                        {"chebyshev", "l1-jacobi", "block-jacobi", "fsai", "sai"});
    options.smoother.degree = method.integer("degree", 2, 1, 20);
    options.smoother.rounds_to_float =
        method.word("values", "float", {"float", "double"}) == "float";
    this->preserves_symmetry = options.smoother.preserves_symmetry();
    options.block = method.integer("block", 0, 0, NearNullVectors::max_vectors);
    options.near_null = method.word("near-null", "auto", {"auto", "constants", "rigid-body"});
    options.coarsest = method.integer("coarsest", 256, 1, 1024);
  }

  void setup(const Matrix &A) override
  {
    this->inverse.reset();
    this->inverse = std::make_unique<MultigridOperator<Backend>>(A, options, cycle_index);
    this->preserves_symmetry =
        this->inverse->hierarchy.is_symmetric() && options.smoother.preserves_symmetry();
    describe();
  }
  void update(const Matrix & /* A */) override
  {
    this->inverse->hierarchy.update();
    describe();
  }

private:
  void describe()
  {
    const Hierarchy<Backend> &hierarchy = this->inverse->hierarchy;
    std::vector<LevelReport> levels = hierarchy.reports();
    const std::string description = hierarchy.description(levels);
    this->report = {hierarchy.n_nonzeros(),
                    (cycle_index == 1 ? "V-cycle, " : "W-cycle, ") + description,
                    std::move(levels)};
    if (!times_cycle)
      return;
    const std::vector<double> seconds = this->inverse->measure_cycle();
    for (std::size_t level = 0; level < seconds.size(); ++level)
      this->report.levels[level].cycle_seconds = seconds[level];
  }

  HierarchyOptions options;
  int cycle_index;
  bool times_cycle; ///< whether the report contains the times of a cycle
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class MultigridPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<Multigrid<ThisBackend>>(method);
}
} // namespace femgpu::linalg
