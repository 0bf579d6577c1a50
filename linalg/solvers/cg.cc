#include "linalg/solvers/krylov.h"
#include "linalg/solvers/registry.h"

namespace femgpu::linalg
{
namespace
{
struct State : KrylovState
{
  double alpha = 0., beta = 0., gamma = 0.;
};

struct Sums
{
  double pq, gamma, rr;
};

/// p = M⁻¹r;  γ = (r, M⁻¹r)
template <class M>
struct Begin
{
  const double *r;
  double *p;
  M m;

  using Contributes = SumList<&Sums::gamma>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, Sums &sum) const
  {
    p[i] = m(i) * r[i];
    sum.gamma += r[i] * p[i];
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.gamma = sum.gamma;
  }
};

/// q = A p;  α = γ / (p, q)
struct ApplyMatrix
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

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.check_spd(s.rr, s.gamma, sum.pq);
    if (!s.running)
      return;
    s.alpha = s.gamma / sum.pq;
    ++s.iteration;
  }
};

/// x += α p;  r -= α q;  γ' = (r, M⁻¹r);  β = γ'/γ
template <class M>
struct UpdateSolution
{
  double *x, *r;
  const double *p, *q;
  M m;

  using Contributes = SumList<&Sums::gamma, &Sums::rr>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums &sum) const
  {
    x[i] += s.alpha * p[i];
    const double r_i = r[i] - s.alpha * q[i];
    r[i] = r_i;
    sum.gamma += r_i * m(i) * r_i;
    sum.rr += r_i * r_i;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.beta = sum.gamma / s.gamma;
    s.gamma = sum.gamma;
    s.rr = sum.rr;
  }
};

/// p = M⁻¹r + β p
template <class M>
struct UpdateDirection
{
  double *p;
  const double *r;
  M m;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums & /* sum */) const
  {
    p[i] = m(i) * r[i] + s.beta * p[i];
  }
};

/**
 * Preconditioned conjugate gradients in the classical form (Shewchuk 1994, B3; Rupp et al. 2016,
 * Algorithm 1).
 *
 * Use: the reference; it rounds a little better than the pipelined form. Needs: A and M symmetric
 * positive definite. Cost per iteration: 3 kernels, 2 of them with a reduction; A, 11 vectors and
 * M twice are read or written. Fails: (p, Ap) <= 0 or (r, M⁻¹r) <= 0, both reported.
 */
template <class Backend>
class CG final : public Solver
{
public:
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    require_symmetric("cg", M);
    const auto n = static_cast<std::size_t>(A.n());
    Buffer<double> p(A.executor(), n), q(A.executor(), n);
    Iteration<Backend, State, Sums> iteration(*A.executor(), A.n());

    const auto run = [&](const KrylovState &start, Buffer<double> &r) -> KrylovState {
      State state;
      static_cast<KrylovState &>(state) = start;
      iteration.set_state(state);
      visit_matrix<Backend>(A, [&](const auto &view) {
        std::visit(
            [&](const auto &m) {
              iterate(iteration, view, m, control, x.data(), r.data(), p.data(), q.data());
            },
            M.view());
      });
      return iteration.get_state();
    };
    SolveReport report = begin_report("cg", A, M);
    report.bytes_per_iteration = A.bytes() + 2 * M.bytes() + 11 * x.bytes();
    return solve_to_true_residual<Backend>(A, b, x, control, report, run);
  }

private:
  template <class View, class M>
  static void iterate(Iteration<Backend, State, Sums> &iteration, const View &A, const M &m,
                      const SolveControl &control, double *x, double *r, double *p, double *q)
  {
    iteration.once(rows(A.n, Begin<M>{r, p, m}));
    iteration.repeat(watch_for<State>(control),                   //
                     product(A, p, ApplyMatrix{p, q}),            //
                     rows(A.n, UpdateSolution<M>{x, r, p, q, m}), //
                     rows(A.n, UpdateDirection<M>{p, r, m}));
  }
};
} // namespace

template <class Backend>
std::unique_ptr<Solver> make_cg()
{
  return std::make_unique<CG<Backend>>();
}

template std::unique_ptr<Solver> make_cg<ThisBackend>();
} // namespace femgpu::linalg
