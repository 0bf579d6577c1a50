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
struct Begin
{
  const double *r;
  double *p;
  DiagonalView m;

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
struct UpdateSolution
{
  double *x, *r;
  const double *p, *q;
  DiagonalView m;

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
struct UpdateDirection
{
  double *p;
  const double *r;
  DiagonalView m;

  using Contributes = SumList<>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums & /* sum */) const
  {
    p[i] = m(i) * r[i] + s.beta * p[i];
  }
};

/// p = M⁻¹r;  γ = (r, M⁻¹r), for any M
struct BeginWithProduct
{
  const double *r;
  double *p;

  using Contributes = SumList<&Sums::gamma>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double z_i, Sums &sum) const
  {
    p[i] = z_i;
    sum.gamma += r[i] * z_i;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.gamma = sum.gamma;
  }
};

/// x += α p;  r -= α q
struct UpdateResidual
{
  double *x, *r;
  const double *p, *q;

  using Contributes = SumList<&Sums::rr>;
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums &sum) const
  {
    x[i] += s.alpha * p[i];
    const double r_i = r[i] - s.alpha * q[i];
    r[i] = r_i;
    sum.rr += r_i * r_i;
  }
};

/// z = M⁻¹r;  γ' = (r, z);  β = γ'/γ
struct ApplyPreconditioner
{
  const double *r;
  double *z;

  using Contributes = SumList<&Sums::gamma>;
  FEMGPU_HD
  void operator()(const State & /* s */, const int i, const double z_i, Sums &sum) const
  {
    z[i] = z_i;
    sum.gamma += r[i] * z_i;
  }

  using Completes = SumList<&Sums::gamma, &Sums::rr>;
  FEMGPU_HD
  void finish(State &s, const Sums &sum) const
  {
    s.beta = sum.gamma / s.gamma;
    s.gamma = sum.gamma;
    s.rr = sum.rr;
  }
};

/**
 * Preconditioned conjugate gradients in the classical form (Shewchuk 1994, B3; Rupp et al. 2016,
 * Algorithm 1).
 *
 * Use: the reference; it rounds a little better than the pipelined form. Needs: A and M symmetric
 * positive definite. Cost per iteration: 3 kernels, 2 of them with a reduction; A, 11 vectors and
 * M twice are read or written; where M is no row functor 4 kernels, A, 13 vectors and M once.
 * Fails: (p, Ap) <= 0 or (r, M⁻¹r) <= 0, both reported.
 */
template <class Backend>
class CG final : public Solver
{
public:
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    require_symmetric("cg", M);
    Buffer<double> p = A.domain()->make_vector(), q = A.domain()->make_vector(), z;
    if (std::holds_alternative<const PreconditionerOperator *>(M.action()))
      z = A.domain()->make_vector();
    const auto iterate = [&](auto &iteration, const auto &m, Buffer<double> &r) {
      const int rows_of_A = A.n();
      const auto watch = watch_for<State>(control);
      if constexpr (is_fused<decltype(m)>) {
        iteration.once(rows(rows_of_A, Begin{r.data(), p.data(), m}));
        iteration.repeat(watch, //
                         product(A, p.data(), ApplyMatrix{p.data(), q.data()}),
                         rows(rows_of_A, UpdateSolution{x.data(), r.data(), p.data(), q.data(), m}),
                         rows(rows_of_A, UpdateDirection{p.data(), r.data(), m}));
      }
      else {
        iteration.once(product(*m, r.data(), BeginWithProduct{r.data(), p.data()}));
        iteration.repeat(watch, //
                         product(A, p.data(), ApplyMatrix{p.data(), q.data()}),
                         rows(rows_of_A, UpdateResidual{x.data(), r.data(), p.data(), q.data()}),
                         product(*m, r.data(), ApplyPreconditioner{r.data(), z.data()}),
                         rows(rows_of_A, UpdateDirection{p.data(), z.data(), {}}));
      }
    };
    return solve_with_steps<Backend, State, Sums>("cg", A, M, b, x, control,
                                                  {{1, 11, 2}, {1, 13, 1}}, iterate);
  }
};
} // namespace

template <>
std::unique_ptr<Solver> make_on<class CgSolver, ThisBackend>(Method & /* method */)
{
  return std::make_unique<CG<ThisBackend>>();
}
} // namespace femgpu::linalg
