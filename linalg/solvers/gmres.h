#ifndef femgpu_linalg_solvers_gmres_h
#define femgpu_linalg_solvers_gmres_h

#include "linalg/solvers/krylov.h"
#include "linalg/steps/columns.h"
#include "linalg/steps/row_bodies.h"

#include <algorithm>

/**
 * @file
 * Shared parts of the forms of GMRES: a basis of unnormalised vectors, the steps (steps/steps.h)
 * that extend it, and the end of a cycle.
 *
 * Column 0 of the basis V is the residual r at the start of the cycle. Vectors are not scaled,
 * except in flexible GMRES: the normalised vectors are v_k = ν_k V_k with ν_k = 1 / ‖V_k‖. ν_k is
 * available one step after V_k, so that no pass over the vectors is needed only to normalise them.
 */
namespace femgpu::linalg::gmres
{
constexpr int max_columns = 256; ///< the largest restart length

struct State : KrylovState
{
  int columns = 0;   ///< number of directions in the update of x
  double scale = 0.; ///< ν of the last vector

  /// Stops the cycle if orthogonalisation has left only rounding errors of a vector, that is, if
  /// its squared length @p ww is at most @p min_share times @p before, the squared length before
  /// orthogonalisation. Returns whether the cycle has been stopped.
  FEMGPU_HD
  bool stop_if_dependent(const double ww, const double before, const double min_share)
  {
    const bool lost = !(ww > min_share * before);
    if (lost)
      stop(is_finite(ww) && is_finite(before) ? Outcome::breakdown : Outcome::not_finite);
    return lost;
  }

  /// Ends a cycle, after which x has (r, r) = @p new_rr: starts the next cycle, or stops.
  FEMGPU_HD
  void end_cycle(const double new_rr, const double new_bb)
  {
    if (columns == 0 && outcome != Outcome::breakdown) // no cycle was begun
      return;
    const bool was_stopped = !running;
    const Outcome cycle_outcome = outcome;
    const double before = start_rr;
    columns = 0;
    running = true;
    begin(new_rr, new_bb);
    if (!running)
      return;
    if (was_stopped && cycle_outcome != Outcome::converged && cycle_outcome != Outcome::breakdown)
      stop(cycle_outcome);
    else if (new_rr > diverged_rr)
      stop(Outcome::diverged);
    else if (iteration >= max_iterations)
      stop(Outcome::iteration_limit);
    else if (was_stopped && cycle_outcome == Outcome::breakdown && new_rr > 0.99 * before)
      stop(Outcome::breakdown);
    else if (new_rr >
             (was_stopped && cycle_outcome == Outcome::converged ? 0.25 : 1. - 1e-8) * before)
      stop(Outcome::stagnated);
    else
      ++restarts;
  }
};

struct Sums
{
  double before, ww, rw;
};

/// The data of a cycle except its vectors. R is stored by columns of length @p size.
struct Cycle
{
  int size;             ///< columns of a full cycle
  double *R;            ///< size x size; completed columns are upper triangular
  double *scales;       ///< ν_k, size + 1 numbers
  double *coefficients; ///< `size` coefficients of the vectors to subtract from the new one
  double *rhs;          ///< right-hand side of the system with R, size + 1 numbers
  double *rotations;    ///< `size` cosines and sines
  double *weights;      ///< `size` weights of the directions in the update of x
  int *columns;         ///< copy of State::columns, for steps without a state

  FEMGPU_HD
  double &r(const int row, const int column) const
  {
    return R[column * size + row];
  }
  /// Returns a pointer to the cosine and the sine of Givens rotation @p k.
  FEMGPU_HD
  double *rotation(const int k) const
  {
    return rotations + 2 * static_cast<std::ptrdiff_t>(k);
  }

  /// Returns how many doubles the arrays of a cycle need.
  FEMGPU_HD
  static int count(const int size)
  {
    return size * size + 7 * size + 2;
  }
  /// Returns a cycle whose arrays are in the memory that begins at @p first.
  FEMGPU_HD
  static Cycle in(double *const first, const int size, int *const columns)
  {
    double *next = first;
    const auto allocate = [&next](const int count) {
      next += count;
      return next - count;
    };
    return {size,
            allocate(size * size),
            allocate(size + 1),
            allocate(size),
            allocate(size + 1),
            allocate(2 * size),
            allocate(size),
            columns};
  }
};

/// Begins a cycle: sets ν_0 = 1 / ‖r‖, the right-hand side to ‖r‖ e_0 and, if M⁻¹ is fused into
/// this step, ẑ = M⁻¹r.
struct BeginCycle
{
  const double *r;
  double *z; ///< nullptr: not needed
  DiagonalView m;
  Cycle cycle;

  FEMGPU_HD
  void operator()(const int i) const
  {
    if (z != nullptr)
      z[i] = m(i) * r[i];
  }

  FEMGPU_HD
  void finish(State &s, const Sums & /* sum */) const
  {
    if (s.iteration >= s.max_iterations)
      s.stop(Outcome::iteration_limit);
    const double beta = sqrt(s.rr);
    s.scale = 1. / beta;
    s.columns = *cycle.columns = 0;
    cycle.scales[0] = s.scale;
    cycle.rhs[0] = beta;
  }
};

/// Computes w = ν A ẑ with ẑ = M⁻¹V_j, and (w, w).
struct ApplyMatrix
{
  double *w;

  using Contributes = SumList<&Sums::before>;
  FEMGPU_HD
  void operator()(const State &s, const int i, const double Az_i, Sums &sum) const
  {
    const double w_i = s.scale * Az_i;
    w[i] = w_i;
    sum.before += w_i * w_i;
  }
};

/// Computes h_k = (v_k, w) for consecutive columns k of the basis, and the coefficients ν_k h_k of
/// the vectors V_k that are to be subtracted from w.
struct Project
{
  Cycle cycle;
  int first;        ///< first of the columns k
  int row, column;  ///< position in R of the first h_k
  bool is_repeated; ///< whether to add h_k to the entry of R that an earlier pass has stored

  FEMGPU_HD
  void entry(const int x, const int /* y */, const double dot) const
  {
    const double scale = cycle.scales[first + x];
    const double h = dot * scale;
    double &r = cycle.r(row + x, column);
    r = is_repeated ? r + h : h;
    cycle.coefficients[x] = h * scale;
  }
  FEMGPU_HD
  void finish(State & /* s */) const
  {}
};

/// Computes w −= Σ_k h_k v_k.
struct Subtract
{
  Columns X; ///< V_k
  const double *coefficients;
  double *w;

  FEMGPU_HD
  void operator()(const int i) const
  {
    w[i] -= combination(X, X.count, coefficients, i);
  }
};

/// Subtracts the last projections from w, and computes (w, w) and, if M⁻¹ is fused into this step,
/// ẑ = M⁻¹w. @p End processes the sums.
template <class End>
struct ExtendBasis
{
  Columns X;
  const double *coefficients;
  double *w;
  double *z; ///< nullptr: not needed
  DiagonalView m;
  End end;

  using Contributes = SumList<&Sums::ww, &Sums::rw>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, Sums &sum) const
  {
    const double w_i = w[i] - combination(X, X.count, coefficients, i);
    w[i] = w_i;
    if (z != nullptr)
      z[i] = m(i) * w_i;
    sum.ww += w_i * w_i;
    if constexpr (End::needs_residual)
      sum.rw += end.r[i] * w_i;
  }

  using Completes = SumList<&Sums::before, &Sums::ww, &Sums::rw>;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    end(s, sum);
  }
};

/// Solves R y = rhs, and computes the weights of the directions: y_k ν_k, or y_k if directions have
/// unit length.
struct SolveTriangle
{
  static constexpr int team_size = 256, scratch = max_columns;
  static constexpr bool runs_always = true;
  Cycle cycle;
  bool is_scaled; ///< whether the directions have unit length

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, int /* item */) const
  {
    const int columns = *cycle.columns;
    double *const y = team.scratch();
    for (int k = team.rank(); k < columns; k += team.size())
      y[k] = cycle.rhs[k];
    team.sync();
    for (int c = columns - 1; c >= 0; --c) {
      const double y_c = y[c] / cycle.r(c, c);
      team.sync();
      for (int k = team.rank(); k < c; k += team.size())
        y[k] -= cycle.r(k, c) * y_c;
      if (team.rank() == 0)
        y[c] = y_c;
      team.sync();
    }
    for (int k = team.rank(); k < columns; k += team.size())
      cycle.weights[k] = y[k] * (is_scaled ? 1. : cycle.scales[k]);
  }
};

/// Computes x += M⁻¹ Σ_k y_k v_k, or t = Σ_k y_k v_k if M⁻¹ is not fused.
template <bool fused>
struct Update
{
  static constexpr bool runs_always = true;
  Columns directions;
  Cycle cycle;
  DiagonalView m;
  double *x; ///< x, or t if M⁻¹ is not fused

  FEMGPU_HD
  void operator()(const int i) const
  {
    const double sum = combination(directions, *cycle.columns, cycle.weights, i);
    if constexpr (fused)
      x[i] += m(i) * sum;
    else
      x[i] = sum;
  }
};

/// Computes x += M⁻¹t.
struct AddPreconditioned : AddProduct
{
  static constexpr bool runs_always = true;
};

/// Computes r = b − A x and ends a cycle.
struct EndCycle : TrueResidual<Sums>
{
  static constexpr bool runs_always = true;

  FEMGPU_HD
  void finish(State &s, const SumsWithResidual<Sums> &sum) const
  {
    s.end_cycle(sum.true_rr, sum.bb);
  }
};

/// Replaces V_j by v_j, because a nonlinear M needs normalised vectors.
struct Normalise
{
  double *v;
  double *scale; ///< ν_j

  FEMGPU_HD
  void operator()(const State &s, const int i, Sums & /* sum */) const
  {
    v[i] *= s.scale;
  }

  FEMGPU_HD
  void finish(State &s, const Sums & /* sum */) const
  {
    s.scale = *scale = 1.;
  }
};

/// The data that the steps of a solve use: for all rows, or for the rows of one thread block of a
/// GPU, which keeps its rows of the basis and the data of a cycle on the chip.
template <bool fused_>
struct SolverWorkspace
{
  static constexpr bool fused = fused_;                ///< M⁻¹ is fused into the steps
  static constexpr bool supports_on_chip_loop = false; ///< whether cuda/on_chip/basis.cuh runs it
  int n;
  Columns V;      ///< the basis
  Columns Z;      ///< M⁻¹V_j: one vector, or one column per j; empty for M = I
  bool is_stored; ///< Z has one column per j
  Cycle cycle;
  DiagonalView m;
  const double *b;
  double *x;
  double *initial_x; ///< x at the start of the run

  /// Returns the vector that A multiplies in step j; for M = I, the basis vector itself.
  FEMGPU_HD
  double *z(const int j) const
  {
    return Z.count == 0 ? V[j] : Z[is_stored ? j : 0];
  }
  /// Returns where the step that computes column @p j of the basis also stores the product of M⁻¹
  /// and this column; nullptr if it does not store this product.
  FEMGPU_HD
  double *fused_z(const int j) const
  {
    return fused && Z.count > 0 && j < cycle.size ? z(j) : nullptr;
  }

  FEMGPU_HD
  BeginCycle begin_cycle() const
  {
    return {V[0], fused_z(0), m, cycle};
  }
  FEMGPU_HD
  ApplyMatrix apply(const int j) const
  {
    return {V[j + 1]};
  }
  FEMGPU_HD
  SolveTriangle solve() const
  {
    return {cycle, is_stored};
  }
  FEMGPU_HD
  Update<true> update() const
  {
    return {is_stored ? Z : V, cycle, m, x};
  }
  FEMGPU_HD
  EndCycle end_cycle() const
  {
    return {{b, V[0]}};
  }
};

/**
 * Solves A x = b in cycles. @p extend_basis(workspace, dots, j) returns the steps, as a tuple, that
 * compute column j of R and column j + 1 of the basis from A ẑ_j.
 * @param is_flexible whether to store M⁻¹v of each vector, because M may change
 * @tparam MethodWorkspace a SolverWorkspace with additional steps of the method
 */
template <class Backend, template <bool> class MethodWorkspace = SolverWorkspace, class ExtendBasis>
SolveReport solve_by_cycles(const std::string &solver, const int restart, const bool is_flexible,
                            const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                            Buffer<double> &x, const SolveControl &control,
                            const std::size_t vectors_per_iteration,
                            const ExtendBasis &extend_basis)
{
  const RowSpace &space = *A.range();
  const int size =
      static_cast<int>(std::clamp<long long>(restart, 1, std::max(space.n_global(), 1LL)));
  const auto m_view = M.action();
  const bool is_stored =
      is_flexible && std::holds_alternative<const PreconditionerOperator *>(m_view);
  const auto *const fused_M = std::get_if<DiagonalView>(&m_view);
  const int n_z = is_stored ? size : fused_M != nullptr && fused_M->is_identity() ? 0 : 1;
  WorkVectors vectors(A, size + 1 + n_z);
  Buffer<double> numbers(A.executor(), static_cast<std::size_t>(Cycle::count(size)));
  Buffer<int> columns(A.executor(), 1);
  GramMemory dots(A.executor(), size + 1, space.communicator());
  numbers.fill_zero();
  columns.fill_zero();
  const auto iterate = [&](auto &iteration, const auto &m, double *const initial_x) {
    constexpr bool fused = is_fused<decltype(m)>;
    const SolverWorkspace<fused> all{A.n(),
                                     vectors.columns(0, size + 1),
                                     vectors.columns(size + 1, n_z),
                                     is_stored,
                                     Cycle::in(numbers.data(), size, columns.data()),
                                     fused_diagonal(m),
                                     b.data(),
                                     x.data(),
                                     initial_x};
    const MethodWorkspace<fused> work{all};
    const auto watch = watch_for<State>(control);
    if constexpr (fused && MethodWorkspace<fused>::supports_on_chip_loop)
      if (iteration.try_on_chip(A, watch, work))
        return;
    const auto begin = rows(work.fused_z(0) == nullptr ? 1 : A.n(), work.begin_cycle());
    const auto column = [&](const int j) {
      return std::tuple_cat(preconditioning(m, work.V[j], StoreProduct{work.z(j)}),
                            std::tuple(product(A, work.z(j), work.apply(j))),
                            extend_basis(work, dots, j));
    };
    const auto column_of_v = [&](const int j) {
      const Normalise normalise{work.V[j], work.cycle.scales + j};
      return std::tuple_cat(std::tuple(rows(A.n(), normalise)), column(j));
    };
    const auto solve = teams(1, work.solve());
    const auto update = rows(A.n(), work.update());
    const ExactProduct exact(A);
    const auto end = product(exact, x.data(), work.end_cycle());
    if constexpr (fused)
      iteration.repeat(watch, begin, counted_steps(size, column), solve, update, end);
    else if (is_stored)
      iteration.repeat(watch, begin, counted_steps(size, column_of_v), solve, update, end);
    else
      iteration.repeat(watch, begin, counted_steps(size, column), solve,
                       rows(A.n(), Update<false>{work.V, work.cycle, {}, work.Z[0]}),
                       product(*m, work.Z[0], AddPreconditioned{{x.data()}}), end);
  };
  return solve_with_steps<Backend, State, Sums>(
      solver, A, M, b, x, vectors[0], control,
      {{1, vectors_per_iteration, 1}, {1, vectors_per_iteration + 2, 1}}, iterate);
}
} // namespace femgpu::linalg::gmres

#endif
