#include "linalg/solvers/batch.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace
{
enum Vector : int
{
  x,
  r,
  p,
  q,
  n_vectors
};

struct Sums
{
  double gamma, rr, pq, qmq;
};

struct State : KrylovState
{
  double alpha = 0., beta = 0.;

  /// α = γ / (p, q);  β = α² (q, M⁻¹q) / γ − 1
  FEMGPU_HD
  void advance(const Sums &sum)
  {
    const double inverse_pq = reciprocal(sum.pq); // = α/γ; begun early, because it takes longest
    check_spd(sum.rr, sum.gamma, sum.pq);
    if (!running)
      return;
    alpha = sum.gamma * inverse_pq;
    // γ'/γ > 0, but its formula may round to less where γ' is tiny.
    beta = fmax(0., alpha * (sum.qmq * inverse_pq) - 1.);
    ++iteration;
  }
};

/// x += α p;  r -= α q;  p = M⁻¹r + β p;  γ = (r, M⁻¹r)
struct UpdateVectors
{
  using Reads = VectorList<x, r, p, q>;
  using Writes = VectorList<x, r, p>;
  using Contributes = SumList<&Sums::gamma, &Sums::rr>;
  FEMGPU_HD
  void operator()(const State &s, Row<n_vectors> &v, const double m_i, Sums &sum) const
  {
    v[x] += s.alpha * v[p];
    v[r] -= s.alpha * v[q];
    const double z_i = m_i * v[r];
    v[p] = z_i + s.beta * v[p];
    sum.gamma += v[r] * z_i;
    sum.rr += v[r] * v[r];
  }
};

/// q = A p;  α = γ / (p, q);  β = α² (q, M⁻¹q) / γ − 1
struct ApplyMatrix
{
  static constexpr int factor = p;
  using Reads = VectorList<p>;
  using Writes = VectorList<q>;
  using Contributes = SumList<&Sums::pq, &Sums::qmq>;
  FEMGPU_HD
  void operator()(const State & /* s */, Row<n_vectors> &v, const double q_i, const double m_i,
                  Sums &sum) const
  {
    v[q] = q_i;
    sum.pq += v[p] * q_i;
    sum.qmq += q_i * m_i * q_i;
  }

  using Completes = SumList<&Sums::gamma, &Sums::rr, &Sums::pq, &Sums::qmq>;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.advance(sum);
  }
};

/// x += α p;  r -= α q;  z -= α s;  p = z + β p;  γ = (r, z), where z = M⁻¹r and s = M⁻¹q
struct UpdateVectorsWithZ
{
  double *x, *r, *z, *p;
  const double *q, *s;

  using Contributes = SumList<&Sums::gamma, &Sums::rr>;
  FEMGPU_HD
  void operator()(const State &state, const int i, Sums &sum) const
  {
    const double p_i = p[i];
    x[i] += state.alpha * p_i;
    const double r_i = r[i] - state.alpha * q[i];
    const double z_i = z[i] - state.alpha * s[i];
    r[i] = r_i;
    z[i] = z_i;
    p[i] = z_i + state.beta * p_i;
    sum.gamma += r_i * z_i;
    sum.rr += r_i * r_i;
  }
};

/// z = M⁻¹r
struct Store
{
  double *z;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double z_i, Sums & /* sum */) const
  {
    z[i] = z_i;
  }
};

/// q = A p
struct ApplyMatrixOnly
{
  const double *p;
  double *q;

  using Contributes = SumList<&Sums::pq>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double q_i, Sums &sum) const
  {
    q[i] = q_i;
    sum.pq += p[i] * q_i;
  }
};

/// s = M⁻¹q;  α and β as above
struct ApplyPreconditioner
{
  const double *q;
  double *s;

  using Contributes = SumList<&Sums::qmq>;
  FEMGPU_HD
  void operator()(const State & /* state */, const int i, const double s_i, Sums &sum) const
  {
    s[i] = s_i;
    sum.qmq += q[i] * s_i;
  }

  using Completes = SumList<&Sums::gamma, &Sums::rr, &Sums::pq, &Sums::qmq>;
  FEMGPU_HD
  void finish(State &state, const Sums &sum) const
  {
    state.advance(sum);
  }
};

/**
 * Preconditioned conjugate gradients in the pipelined form with two kernels (Rupp et al. 2016,
 * Algorithm 2, in the inner product of a diagonal M⁻¹: because (M⁻¹r, q) = (p, q) = γ/α, the next
 * γ follows from (q, M⁻¹q)).
 *
 * Use: the default for symmetric positive definite systems. Needs: A and M symmetric positive
 * definite. Cost per iteration: 2 kernels and one point of synchronisation; A, 9 vectors and M
 * twice are read or written. Where M is no row functor: 3 kernels, A, 14 vectors and M once; s =
 * M⁻¹q gives z = M⁻¹r by a recurrence. Fails: as classical CG. β comes from a difference, so the
 * direction loses conjugacy a little earlier; the true residual decides, and restarts are counted.
 */
template <class Backend>
class PipelinedCG final : public Solver
{
public:
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &solution, const SolveControl &control) const override
  {
    require_symmetric("pipelined-cg", M);
    const bool is_general = std::holds_alternative<const PreconditionerOperator *>(M.action());
    WorkVectors own(A, is_general ? 4 : 2);
    const auto iterate = [&](auto &iteration, const auto &m, Buffer<double> &residual) {
      const auto watch = watch_for<State>(control);
      double *const direction = own[0], *const image = own[1]; // p and q
      // α = β = 0 at first: the first pass makes p = M⁻¹r and changes nothing else
      own.fill_zero();
      if constexpr (is_fused<decltype(m)>) {
        const VectorSet<n_vectors> v{{solution.data(), residual.data(), direction, image}};
        iteration.repeat(watch, rows(A.n(), v, m, UpdateVectors()),
                         product(A, v, m, ApplyMatrix()));
      }
      else {
        double *const z = own[2], *const s = own[3];
        iteration.once(product(*m, residual.data(), Store{z}));
        iteration.repeat(watch,
                         rows(A.n(), UpdateVectorsWithZ{solution.data(), residual.data(), z,
                                                        direction, image, s}),
                         product(A, direction, ApplyMatrixOnly{direction, image}),
                         product(*m, image, ApplyPreconditioner{image, s}));
      }
    };
    return solve_with_steps<Backend, State, Sums>("pipelined-cg", A, M, b, solution, control,
                                                  {{1, 9, 2}, {1, 14, 1}}, iterate);
  }

  std::shared_ptr<const BatchMethod> batch() const override
  {
    using Steps =
        VectorMethod<State, Sums, n_vectors, StepList<>, StepList<UpdateVectors, ApplyMatrix>>;
    return std::make_shared<BatchMethodOf<Backend, Steps>>();
  }
};
} // namespace

template <>
std::unique_ptr<Solver> make_on<class PipelinedCgSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<PipelinedCG<ThisBackend>>();
}
} // namespace femgpu::linalg
