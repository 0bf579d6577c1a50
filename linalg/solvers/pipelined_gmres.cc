#include "linalg/solvers/gmres.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace gmres
{
namespace
{
/// Computes ν = 1/‖w‖, R_jj = ‖w‖, ξ_j = (r, v) and ‖r‖² −= ξ_j².
struct NewDirection
{
  static constexpr bool needs_residual = true;
  const double *r;
  Cycle cycle;
  int j;

  FEMGPU_HD
  void operator()(State &s, const Sums &sum) const
  {
    if (s.stop_if_dependent(sum.ww, sum.before, 1e-16))
      return;
    const double norm = sqrt(sum.ww);
    const double xi = sum.rw / norm;
    s.scale = cycle.scales[j + 1] = 1. / norm;
    cycle.r(j, j) = norm;
    cycle.rhs[j] = xi;
    s.columns = *cycle.columns = j + 1;
    ++s.iteration;
    s.check(fmax(s.rr - xi * xi, 0.));
    if (s.running && s.rr < 1e-13 * s.start_rr) // the rest of the sum is rounding error
      s.stop(Outcome::converged);
  }
};

/// A SolverWorkspace with the steps that compute a column of R and of the basis.
template <bool fused>
struct PipelinedWorkspace : SolverWorkspace<fused>
{
  static constexpr bool supports_on_chip_loop = true;
  using SolverWorkspace<fused>::V, SolverWorkspace<fused>::cycle;

  FEMGPU_HD
  Project project(const int j) const
  {
    return {cycle, 1, 0, j, false};
  }
  FEMGPU_HD
  ExtendBasis<NewDirection> extend_basis(const int j) const
  {
    return {V.columns(1, j), cycle.coefficients, V[j + 1], this->fused_z(j + 1),
            this->m,         {V[0], cycle, j}};
  }

  // The members below are for loops that keep their vectors on the chip of a GPU.
  FEMGPU_HD
  ComputeInitialResidual<State, Sums> begin() const
  {
    return {{this->b, V[0]}, this->x, this->initial_x};
  }
  /// Returns how many doubles a thread block needs in addition to its rows of the basis.
  FEMGPU_HD
  int block_workspace_size() const
  {
    return Cycle::count(cycle.size);
  }
  /// Returns the workspace for the rows of one thread block of a GPU; its vectors begin at the
  /// first row of the block.
  /// @param numbers block_workspace_size() numbers
  /// @param columns one number
  FEMGPU_HD
  PipelinedWorkspace of_block(const int first_row, const int n_rows, const Columns &basis,
                              double *numbers, int *columns) const
  {
    const DiagonalView &m = this->m;
    return {{n_rows,
             basis,
             {},
             false,
             Cycle::in(numbers, cycle.size, columns),
             {m.is_uniform() ? nullptr : m.inverse + first_row, m.uniform},
             this->b + first_row,
             this->x + first_row,
             this->initial_x + first_row}};
  }
  /// Returns scratch memory for solve(): the rotations, which this method does not use.
  FEMGPU_HD
  double *scratch() const
  {
    return cycle.rotations;
  }
};

/**
 * Pipelined simpler GMRES(m) (Rupp et al. 2016, Algorithm 6; Walker and Zhou 1994): v_1, v_2, ...
 * is a basis of A times the Krylov space, so that the residual needs no rotations, only ξ_j = (r,
 * v_j). Classical Gram-Schmidt, right preconditioning.
 *
 * Use: unsymmetric systems for which BiCGStab fails. Options: restart=m. Needs: no properties of A
 * or M; m + 1 vectors. Cost per iteration: 2 kernels in the first of a cycle and 3 in the others (4
 * in the paper: here no kernel scales a vector), 2 synchronisation points; reads or writes A and M
 * once and about m + 7 vectors. A cycle with all its kernels is the body of a loop on the device
 * and ends with the true residual. With the basis on the chip of a GPU and M fused, a cycle is part
 * of a single kernel, whose blocks synchronise twice per iteration. Fails: stagnation if m is too
 * small; if cancellation leaves less than 1e-8 of A v, the cycle ends early (breakdown if that does
 * not help).
 */
template <class Backend>
class PipelinedGmres final : public Solver
{
public:
  explicit PipelinedGmres(Method &method) : restart(method.integer("restart", 30, 1, max_columns))
  {}

  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    const auto extend_basis = [](const auto &work, GramMemory &dots, const int j) {
      const Columns &V = work.V;
      return std::tuple(gram(work.n, V.columns(1, j), V.columns(j + 1, 1), work.project(j), dots),
                        rows(work.n, work.extend_basis(j)));
    };
    const auto vectors = static_cast<std::size_t>(restart) + 7;
    return solve_by_cycles<Backend, PipelinedWorkspace>("pipelined-gmres", restart, false, A, M, b,
                                                        x, control, vectors, extend_basis);
  }

private:
  int restart;
};
} // namespace
} // namespace gmres

template <>
std::unique_ptr<Solver> make_on<class PipelinedGmresSolver, ThisBackend>(Method &method)
{
  return std::make_unique<gmres::PipelinedGmres<ThisBackend>>(method);
}
} // namespace femgpu::linalg
