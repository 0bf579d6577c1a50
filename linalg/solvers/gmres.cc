#include "linalg/solvers/gmres.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace gmres
{
namespace
{
/// Makes column j of the Hessenberg matrix triangular by Givens rotations. The last entry of the
/// rotated β e_0 is the residual.
struct Rotate
{
  static constexpr bool needs_residual = false;
  Cycle cycle;
  int j;
  double min_share; ///< if (w, w) / (A v, A v) is below this, w is rounding error

  FEMGPU_HD
  void operator()(State &s, const Sums &sum) const
  {
    const bool is_last = !(sum.ww > min_share * sum.before);
    const double h_next = is_last ? 0. : sqrt(sum.ww);
    const double h = rotate_column();
    const double norm = sqrt(h * h + h_next * h_next);
    // The column vanishes if A is singular on the Krylov space.
    if (!(norm > 1e-15 * sqrt(sum.before)) || !State::is_finite(norm)) {
      s.stop(State::is_finite(norm) ? Outcome::breakdown : Outcome::not_finite);
      return;
    }
    const double cosine = h / norm, sine = h_next / norm;
    double *const rotation = cycle.rotation(j);
    rotation[0] = cosine;
    rotation[1] = sine;
    cycle.r(j, j) = norm;
    const double residual = -sine * cycle.rhs[j];
    cycle.rhs[j] *= cosine;
    cycle.rhs[j + 1] = residual;
    s.columns = *cycle.columns = j + 1;
    s.scale = cycle.scales[j + 1] = is_last ? 0. : 1. / h_next;
    ++s.iteration;
    s.check(residual * residual);
    if (s.running && is_last)
      s.stop(Outcome::breakdown);
  }

private:
  /// Applies the rotations of the previous columns to column j. Returns its diagonal entry.
  FEMGPU_HD
  double rotate_column() const
  {
    double h = cycle.r(0, j);
    for (int k = 0; k < j; ++k) {
      const double *const rotation = cycle.rotation(k);
      const double cosine = rotation[0], sine = rotation[1];
      const double below = cycle.r(k + 1, j);
      cycle.r(k, j) = cosine * h + sine * below;
      h = cosine * below - sine * h;
    }
    return h;
  }
};

/// The variant of Gram-Schmidt orthogonalisation.
enum class Orthogonalisation
{
  mgs, ///< modified: one column at a time
  cgs, ///< classical: all columns at once
  cgs2 ///< classical, twice
};

Orthogonalisation orthogonalisation_of(Method &method)
{
  const std::string word = method.word("orthogonalisation", "cgs2", {"mgs", "cgs", "cgs2"});
  return word == "mgs"   ? Orthogonalisation::mgs
         : word == "cgs" ? Orthogonalisation::cgs
                         : Orthogonalisation::cgs2;
}

/**
 * GMRES(m) (Saad and Schultz 1986) with right preconditioning and Givens rotations; flexible GMRES
 * (Saad 1993), which stores M⁻¹v of each vector, for a variable or nonlinear M.
 *
 * Use: the reference for the other forms. Options: restart=m, orthogonalisation=mgs|cgs|cgs2.
 * Needs: no properties of A or M; m + 1 vectors, 2 m + 1 in the flexible form. Cost per iteration
 * j: 3 kernels with cgs, 5 with cgs2, 2 j + 3 with mgs; A and M once, and 2 j, 4 j or 5 j vectors,
 * respectively. Fails: stagnation if m is too small; breakdown for a singular A.
 */
template <class Backend>
class Gmres final : public Solver
{
public:
  Gmres(Method &method, const bool is_flexible)
      : name(method.name()), restart(method.integer("restart", 30, 1, max_columns)),
        variant(orthogonalisation_of(method)), is_flexible(is_flexible)
  {}

  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    const auto extend_basis = [&](const auto &work, GramMemory &dots, const int j) {
      return steps_of_column(work, dots, j);
    };
    return solve_by_cycles<Backend>(name, restart, is_flexible, A, M, b, x, control,
                                    vectors_per_iteration(), extend_basis);
  }

private:
  template <class MethodWorkspace>
  auto steps_of_column(const MethodWorkspace &work, GramMemory &dots, const int j) const
  {
    const bool is_mgs = variant == Orthogonalisation::mgs;
    const int n_earlier_passes = is_mgs                               ? j
                                 : variant == Orthogonalisation::cgs2 ? 1
                                                                      : 0; // passes before the last
    const auto columns = [=](const int k) {
      return is_mgs ? std::pair(k, 1) : std::pair(0, j + 1);
    };
    const auto project = [=, &dots](const int k) {
      const auto [first, count] = columns(k);
      const bool is_repeated = k > 0 && !is_mgs;
      return gram(work.n, work.V.columns(first, count), work.V.columns(j + 1, 1),
                  Project{work.cycle, first, first, j, is_repeated}, dots);
    };
    const auto [first, count] = columns(n_earlier_passes);
    const Columns last = work.V.columns(first, count);
    double *const w = work.V[j + 1];
    const auto before_last = [=](const int k) {
      const auto [first_k, count_k] = columns(k);
      const Columns X = work.V.columns(first_k, count_k);
      return std::tuple(project(k), rows(work.n, Subtract{X, work.cycle.coefficients, w}));
    };
    const Rotate end{work.cycle, j, variant == Orthogonalisation::cgs ? 1e-16 : 1e-28};
    return std::tuple(counted_steps(n_earlier_passes, before_last), project(n_earlier_passes),
                      rows(work.n, ExtendBasis<Rotate>{last, work.cycle.coefficients, w,
                                                       work.fused_z(j + 1), work.m, end}));
  }

  std::size_t vectors_per_iteration() const
  {
    const auto basis = static_cast<std::size_t>(restart + 1) / 2; // on average
    switch (variant) {
    case Orthogonalisation::mgs:
      return 5 * basis + 4;
    case Orthogonalisation::cgs:
      return 2 * basis + 6;
    case Orthogonalisation::cgs2:
      break;
    }
    return 4 * basis + 9;
  }

  std::string name;
  int restart;
  Orthogonalisation variant;
  bool is_flexible;
};
} // namespace
} // namespace gmres

template <>
std::unique_ptr<Solver> make_on<class GmresSolver, ThisBackend>(Method &method)
{
  return std::make_unique<gmres::Gmres<ThisBackend>>(method, false);
}

template <>
std::unique_ptr<Solver> make_on<class FgmresSolver, ThisBackend>(Method &method)
{
  return std::make_unique<gmres::Gmres<ThisBackend>>(method, true);
}
} // namespace femgpu::linalg
