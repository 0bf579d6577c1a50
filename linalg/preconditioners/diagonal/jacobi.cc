#include "linalg/base/error.h"
#include "linalg/execution/this_backend.h"
#include "linalg/memory/buffer.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/registry.h"

namespace femgpu::linalg
{
namespace
{
struct JacobiState : LoopState
{
  double n_zeros = 0., n_different = 0.;
  double first = 0.; ///< m_0
};

struct JacobiSums
{
  double n_zeros, n_different;
};

/// Replaces A_ii by m_i = 1/A_ii; counts the rows with A_ii = 0.
struct InvertDiagonal
{
  double *inverse;

  using Contributes = SumList<&JacobiSums::n_zeros>;
  FEMGPU_HD
  void operator()(const JacobiState & /* state */, const int i, JacobiSums &sums) const
  {
    const double A_ii = inverse[i];
    inverse[i] = 1. / A_ii;
    sums.n_zeros += A_ii == 0. ? 1. : 0.;
  }

  using Completes = SumList<&JacobiSums::n_zeros>;
  FEMGPU_HD
  void finish(JacobiState &state, const JacobiSums &sums) const
  {
    state.n_zeros = sums.n_zeros;
  }
};

/// Counts the m_i that differ from m_0.
struct CompareWithFirst
{
  int n;
  const double *inverse;

  using Contributes = SumList<&JacobiSums::n_different>;
  FEMGPU_HD
  void operator()(const JacobiState & /* state */, const int i, JacobiSums &sums) const
  {
    sums.n_different += inverse[i] == inverse[0] ? 0. : 1.;
  }

  using Completes = SumList<&JacobiSums::n_different>;
  FEMGPU_HD
  void finish(JacobiState &state, const JacobiSums &sums) const
  {
    state.n_different = sums.n_different;
    state.first = n > 0 ? inverse[0] : 1.;
  }
};

/**
 * The Jacobi preconditioner M = diag(A).
 *
 * Use: the default for PCG. M⁻¹ is fused into the solver's kernels and costs 8 bytes per row and
 * application, or nothing if all entries are equal, as for the Laplacian on a uniform grid.
 * Fails: setup() throws SolverError if the diagonal contains a zero. Negative entries make M
 * indefinite, which the solver detects.
 */
template <class Backend>
class Jacobi final : public ReportedPreconditioner
{
public:
  Jacobi() : ReportedPreconditioner("jacobi", true)
  {}

  void setup(const Matrix &A) override
  {
    inverse = Vector<double>(A.range());
    report.n_nonzeros = static_cast<std::size_t>(A.n());
    update(A);
  }

  void update(const Matrix &A) override
  {
    if (!A.get_diagonal(inverse))
      throw SolverError("The Jacobi preconditioner cannot be set up, because the operator does not "
                        "know its diagonal. Implement get_diagonal(), or use preconditioner "
                        "identity.");
    Iteration<Backend, JacobiState, JacobiSums> iteration(*A.range());
    iteration.set_state({});
    iteration.once(rows(A.n(), InvertDiagonal{inverse.data()}),
                   rows(A.n(), CompareWithFirst{A.n(), inverse.data()}));
    const JacobiState state = iteration.get_state();
    const double n_zeros = state.n_zeros;
    view = {state.n_different == 0. ? nullptr : inverse.data(), state.first};
    if (n_zeros > 0.)
      throw SolverError(
          "The Jacobi preconditioner cannot be set up: " +
          std::to_string(static_cast<long long>(n_zeros)) + " of " + std::to_string(A.n()) +
          " rows have a zero or missing diagonal entry. Use scaling matching with an unsymmetric "
          "solver, or, for a symmetric matrix, solver minres with preconditioner identity.");
  }

  Action action() const override
  {
    return view;
  }
  std::size_t bytes() const override
  {
    return view.is_uniform() ? 0 : inverse.bytes();
  }

private:
  Vector<double> inverse;
  DiagonalView view{};
};
} // namespace

template <>
std::unique_ptr<Preconditioner>
make_on<class JacobiPreconditioner, ThisBackend>(Method & /* method */)
{
  return std::make_unique<Jacobi<ThisBackend>>();
}
} // namespace femgpu::linalg
