#ifndef femgpu_linalg_preconditioners_swept_solver_h
#define femgpu_linalg_preconditioners_swept_solver_h

#include "linalg/matrices/cusparse_triangles.h"
#include "linalg/preconditioners/triangular_solver.h"

#include <numeric>
#include <utility>

/**
 * @file
 * Solves with incomplete factors that know no levels: Jacobi sweeps, and cuSPARSE.
 */
namespace femgpu::linalg
{
/// t_i = b_i in the order of the blocks
struct ReadVector
{
  SolveVectors v;
  double *t;

  FEMGPU_HD
  void operator()(const int i) const
  {
    t[i] = v.read(i);
  }
};

struct WriteVector
{
  SolveVectors v;
  const double *t;

  FEMGPU_HD
  void operator()(const int i) const
  {
    v.write(i, t[i]);
  }
};

/// w_i = b_i / d_i
struct StartSweeps
{
  SolveVectors v;
  const double *inverse;
  double *w;

  FEMGPU_HD
  void operator()(const int i) const
  {
    w[i] = inverse[i] * v.read(i);
  }
};

/// w'_i = (b_i − (L w)_i) / d_i
struct SweepForward
{
  SolveVectors v;
  const double *inverse;
  double *w_new;

  FEMGPU_HD
  void operator()(const int i, const double Lw_i) const
  {
    w_new[i] = inverse[i] * (v.read(i) - Lw_i);
  }
};

/// z'_i = w_i − (U z)_i / d_i
struct SweepBackward
{
  const double *w, *inverse;
  double *z_new;

  FEMGPU_HD
  void operator()(const int i, const double Uz_i) const
  {
    z_new[i] = w[i] - inverse[i] * Uz_i;
  }
};

/// A triangle whose rows are stored as they are numbered, as a matrix.
template <class Backend>
class TriangleOperator final : public Operator
{
public:
  TriangleOperator(const IncompleteFactors<Backend> &factors, const std::vector<int> &rows,
                   const bool is_lower)
      : triangle(factors.view(), rows, is_lower, factors.executor())
  {}
  Operator::View view() const override
  {
    const TriangleView T = triangle.view();
    return CsrView<double>{triangle.n(), triangle.lanes(), T.row_starts, T.columns, T.values};
  }

  Triangle<Backend> triangle;
};

/**
 * Each triangle by so many Jacobi sweeps w' = D⁻¹ (b − L w), begun with w = D⁻¹ b: a truncated
 * Neumann series, exact after as many sweeps as there are levels. Symmetric with a symmetric M, and
 * positive definite if D is: Σ (−D⁻¹U)^k D⁻¹ Σ (−L D⁻¹)^k.
 */
template <class Backend>
class SweptSolver final : public TriangularSolver
{
public:
  SweptSolver(const IncompleteFactors<Backend> &factors, const int n_sweeps)
      : SweptSolver(factors, n_sweeps, as_numbered(factors))
  {}

  void update() override
  {
    lower.triangle.update(factors.view());
    upper.triangle.update(factors.view());
  }
  void solve(StepRunner &runner, const SolveVectors &v) const override
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    const double *const inverse = factors.view().inverse;
    double *w = vectors[0].data(), *w_new = vectors[1].data();
    steps.run(rows(n, StartSweeps{v, inverse, w}));
    for (int sweep = 0; sweep < n_sweeps; ++sweep, std::swap(w, w_new))
      steps.run(product(lower, w, SweepForward{v, inverse, w_new}));
    const double *z = w;
    double *z_new = w_new, *z_next = vectors[2].data();
    for (int sweep = 0; sweep < n_sweeps; ++sweep, std::swap(z_new, z_next)) {
      steps.run(product(upper, z, SweepBackward{w, inverse, z_new}));
      z = z_new;
    }
    steps.run(rows(n, WriteVector{v, z}));
  }
  std::size_t bytes() const override
  {
    return static_cast<std::size_t>(n_sweeps) *
               (lower.triangle.bytes() + upper.triangle.bytes() + 6 * vectors[0].bytes()) +
           5 * vectors[0].bytes();
  }
  std::string name() const override
  {
    return std::to_string(n_sweeps) + " Jacobi sweeps for each";
  }

private:
  static std::vector<int> as_numbered(const IncompleteFactors<Backend> &factors)
  {
    std::vector<int> rows(static_cast<std::size_t>(factors.partition().n()));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }
  SweptSolver(const IncompleteFactors<Backend> &factors, const int n_sweeps,
              const std::vector<int> &rows)
      : factors(factors), n_sweeps(n_sweeps), n(static_cast<int>(rows.size())),
        lower(factors, rows, true), upper(factors, rows, false)
  {
    for (Buffer<double> &vector : vectors)
      vector = Buffer<double>(factors.executor(), rows.size());
  }

  const IncompleteFactors<Backend> &factors;
  int n_sweeps, n;
  TriangleOperator<Backend> lower, upper;
  mutable Buffer<double> vectors[3];
};

/// w_i = d_i w_i
struct MultiplyByPivot
{
  FactorsView factors;
  double *w;

  FEMGPU_HD
  void operator()(const int i) const
  {
    w[i] *= factors.values[factors.diagonal[i]];
  }
};

/// cuSPARSE's triangular solves, as a reference.
template <class Backend>
class CusparseSolver final : public TriangularSolver
{
public:
  explicit CusparseSolver(const IncompleteFactors<Backend> &factors)
      : factors(factors), n(factors.partition().n()), b(factors.executor(), size()),
        w(factors.executor(), size()), z(factors.executor(), size())
  {}

  void update() override
  {
    const FactorsView F = factors.view();
    triangles = make_cusparse_triangles<Backend>(factors.executor(), n, factors.n_nonzeros(),
                                                 F.pattern.row_starts, F.pattern.columns, F.values,
                                                 {b.data(), w.data(), z.data()});
  }
  void solve(StepRunner &runner, const SolveVectors &v) const override
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    steps.run(rows(n, ReadVector{v, b.data()}));
    triangles->solve_lower(runner);
    steps.run(rows(n, MultiplyByPivot{factors.view(), w.data()}));
    triangles->solve_upper(runner);
    steps.run(rows(n, WriteVector{v, z.data()}));
  }
  std::size_t bytes() const override
  {
    return 2 * factors.n_nonzeros() * (sizeof(double) + sizeof(int)) + 10 * b.bytes();
  }
  std::string name() const override
  {
    return "cuSPARSE";
  }

private:
  std::size_t size() const
  {
    return static_cast<std::size_t>(n);
  }

  const IncompleteFactors<Backend> &factors;
  int n;
  mutable Buffer<double> b, w, z;
  std::unique_ptr<CusparseTriangles> triangles;
};
} // namespace femgpu::linalg

#endif
