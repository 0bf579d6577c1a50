#ifndef femgpu_linalg_solvers_ca_gmres_steps_h
#define femgpu_linalg_solvers_ca_gmres_steps_h

#include "linalg/powers/basis_step.h"
#include "linalg/powers/matrix_powers.h"
#include "linalg/solvers/gmres.h"

#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * The steps of CA-GMRES besides powers and orthogonalisation; the host gives them to the executor
 * one after the other.
 */
namespace femgpu::linalg::gmres
{
/// r = b − A x
struct StoreResidual
{
  const double *b;
  double *r;

  FEMGPU_HD
  void operator()(const int i, const double Ax_i) const
  {
    r[i] = b[i] - Ax_i;
  }
};

/// v := f v
struct Scale
{
  double *v;
  double factor;

  FEMGPU_HD
  void operator()(const int i) const
  {
    v[i] *= factor;
  }
};

/// t = Σ_k y_k q_k
struct Combine
{
  Columns Q;
  int count;
  const double *y;
  double *t;

  FEMGPU_HD
  void operator()(const int i) const
  {
    t[i] = combination(Q, count, y, i);
  }
};

/// x += m t
struct AddScaled
{
  DiagonalView m;
  const double *t;
  double *x;

  FEMGPU_HD
  void operator()(const int i) const
  {
    x[i] += m(i) * t[i];
  }
};

/// x += M⁻¹t where M is no row functor
struct AddProduct
{
  double *x;

  FEMGPU_HD
  void operator()(const int i, const double z_i) const
  {
    x[i] += z_i;
  }
};

/// z = M⁻¹v
struct StoreProduct
{
  double *z;

  FEMGPU_HD
  void operator()(const int i, const double z_i) const
  {
    z[i] = z_i;
  }
};

/// v_{k+1} of A M⁻¹ v_k
struct NextOfBasis
{
  BasisStep step;
  const double *v, *before;
  double *next;

  FEMGPU_HD
  void operator()(const int i, const double AMv_i) const
  {
    next[i] = next_of_basis(step, AMv_i, v[i], step.square != 0. ? before[i] : 0.);
  }
};

/// Powers of A M⁻¹: by the matrix powers kernel where M is a row functor, else by products.
template <class Backend>
class StepsOfM
{
public:
  StepsOfM(const Matrix &A, const Preconditioner &M, const MatrixPowersOptions &options) : A(A)
  {
    const auto take = [&](const auto &m) {
      if constexpr (is_fused<decltype(m)>) {
        diagonal = m;
        powers = make_matrix_powers(A, diagonal, options);
      }
      else {
        if (options.kind == PowersKind::blocked || options.kind == PowersKind::streamed)
          throw ParameterError("Solver 'ca-gmres' with powers=" + to_string(options.kind) +
                               " needs the preconditioner identity or jacobi, and this is '" +
                               M.name() + "'. Use powers=plain.");
        M_operator = m;
        z = Buffer<double>(A.executor(), static_cast<std::size_t>(A.n()));
      }
    };
    std::visit(take, M.action());
  }

  void compute(Runner<Backend> &runner, const Columns &V, const std::vector<BasisStep> &steps) const
  {
    if (powers) {
      powers->compute(V, steps);
      return;
    }
    for (int k = 0; k < static_cast<int>(steps.size()); ++k) {
      runner.run(product(*M_operator, V[k], StoreProduct{z.data()}));
      runner.run(product(
          A, z.data(),
          NextOfBasis{steps[static_cast<std::size_t>(k)], V[k], V[k > 0 ? k - 1 : 0], V[k + 1]}));
    }
  }

  /// x += M⁻¹t
  void add(Runner<Backend> &runner, double *t, double *x) const
  {
    if (powers)
      runner.run(rows(A.n(), AddScaled{diagonal, t, x}));
    else
      runner.run(product(*M_operator, t, AddProduct{x}));
  }

  std::string description() const
  {
    return powers ? powers->description() : "a product with M and A for each step";
  }

private:
  const Matrix &A;
  DiagonalView diagonal;
  std::unique_ptr<MatrixPowers> powers;
  const PreconditionerOperator *M_operator = nullptr;
  mutable Buffer<double> z; // used by one solver at a time
};
} // namespace femgpu::linalg::gmres

#endif
