#include "linalg/solvers/krylov.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace
{
struct State : KrylovState
{
  double alpha = 0., beta = 0.;
};

struct Sums
{
  double gamma, rr, pq, qmq;
};

/// x += α p;  r -= α q;  p = M⁻¹r + β p;  γ = (r, M⁻¹r)
template <class M>
struct UpdateVectors
{
  double *x, *r, *p;
  const double *q;
  M m;

  using Contributes = SumList<&Sums::gamma, &Sums::rr>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums &sum) const
  {
    const double p_i = p[i];
    x[i] += s.alpha * p_i;
    const double r_i = r[i] - s.alpha * q[i];
    const double z_i = m(i) * r_i;
    r[i] = r_i;
    p[i] = z_i + s.beta * p_i;
    sum.gamma += r_i * z_i;
    sum.rr += r_i * r_i;
  }
};

/// q = A p;  α = γ / (p, q);  β = α² (q, M⁻¹q) / γ − 1
template <class M>
struct ApplyMatrix
{
  const double *p;
  double *q;
  M m;

  using Contributes = SumList<&Sums::pq, &Sums::qmq>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double q_i, Sums &sum) const
  {
    q[i] = q_i;
    sum.pq += p[i] * q_i;
    sum.qmq += q_i * m(i) * q_i;
  }

  using Completes = SumList<&Sums::gamma, &Sums::rr, &Sums::pq, &Sums::qmq>;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.check_spd(sum.rr, sum.gamma, sum.pq);
    if (!s.running)
      return;
    s.alpha = sum.gamma / sum.pq;
    // γ'/γ > 0, but its formula may round to less where γ' is tiny.
    s.beta = fmax(0., s.alpha * (s.alpha * sum.qmq / sum.gamma) - 1.);
    ++s.iteration;
  }
};

/**
 * Preconditioned conjugate gradients in the pipelined form with two kernels (Rupp et al. 2016,
 * Algorithm 2, in the inner product of a diagonal M⁻¹: because (M⁻¹r, q) = (p, q) = γ/α, the next
 * γ follows from (q, M⁻¹q)).
 *
 * Use: the default for symmetric positive definite systems. Needs: A and M symmetric positive
 * definite, M a row functor. Cost per iteration: 2 kernels and one point of synchronisation; A,
 * 9 vectors and M twice are read or written. Fails: as classical CG. β comes from a difference, so
 * the direction loses conjugacy a little earlier; the true residual decides, and restarts are
 * counted.
 */
template <class Backend>
class PipelinedCG final : public Solver
{
public:
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    require_symmetric("pipelined-cg", M);
    const auto n = static_cast<std::size_t>(A.n());
    Buffer<double> p(A.executor(), n), q(A.executor(), n);
    const auto iterate = [&](auto &iteration, const auto &view, const auto &m, Buffer<double> &r) {
      using Inverse = std::decay_t<decltype(m)>;
      // α = β = 0 at first: the first pass makes p = M⁻¹r and changes nothing else
      fill_zero({&p, &q});
      iteration.repeat(
          watch_for<State>(control),
          rows(view.n, UpdateVectors<Inverse>{x.data(), r.data(), p.data(), q.data(), m}),
          product(view, p.data(), ApplyMatrix<Inverse>{p.data(), q.data(), m}));
    };
    return solve_with_steps<Backend, State, Sums>("pipelined-cg", A, M, b, x, control, {1, 9, 2},
                                                  iterate);
  }
};
} // namespace

template <class Backend>
std::unique_ptr<Solver> make_pipelined_cg()
{
  return std::make_unique<PipelinedCG<Backend>>();
}

template std::unique_ptr<Solver> make_pipelined_cg<ThisBackend>();
} // namespace femgpu::linalg
