#include "linalg/execution/this_backend.h"
#include "linalg/powers/basis_step.h"
#include "linalg/powers/forms.h"

#include <utility>

namespace femgpu::linalg
{
namespace
{
/// v_{k+1} of A v_k, and M⁻¹ v_{k+1} where M is not uniform.
struct NextVector
{
  BasisStep step;
  DiagonalView m;
  const double *v, *before;
  double *next, *scaled;

  FEMGPU_HD
  void operator()(const int i, const double Av_i) const
  {
    const double AMv_i = m.is_uniform() ? m.uniform * Av_i : Av_i;
    const double next_i = next_of_basis(step, AMv_i, v[i], step.square != 0. ? before[i] : 0.);
    next[i] = next_i;
    if (!m.is_uniform())
      scaled[i] = m.inverse[i] * next_i;
  }
};

/// w = M⁻¹ v
struct ScaleVector
{
  const double *inverse, *v;
  double *w;

  FEMGPU_HD
  void operator()(const int i) const
  {
    w[i] = inverse[i] * v[i];
  }
};

template <class Backend>
class PlainPowers final : public MatrixPowers
{
public:
  PlainPowers(const Matrix &A, const DiagonalView &m)
      : A(A), m(m), w(A.executor(), m.is_uniform() ? 0 : static_cast<std::size_t>(A.n())),
        w_new(A.executor(), w.size())
  {}

  std::string description() const override
  {
    return "plain: a product for each step";
  }
  std::size_t bytes() const override
  {
    return w.bytes() + w_new.bytes();
  }
  std::size_t traffic(const int n_steps) const override
  {
    const std::size_t vector = sizeof(double) * static_cast<std::size_t>(A.n());
    const std::size_t vectors = m.is_uniform() ? 2 : 5;
    return static_cast<std::size_t>(n_steps) * (A.bytes() + vectors * vector);
  }

protected:
  void run(const Columns &V, const std::vector<BasisStep> &steps) const override
  {
    Runner<Backend> runner(*A.executor());
    if (!m.is_uniform())
      runner.run(rows(A.n(), ScaleVector{m.inverse, V[0], w.data()}));
    double *scaled = w.data(), *scaled_next = w_new.data();
    for (int k = 0; k < static_cast<int>(steps.size()); ++k) {
      const double *const before = V[k > 0 ? k - 1 : 0]; // only read where there is a square
      runner.run(product(A, m.is_uniform() ? V[k] : scaled,
                         NextVector{steps[k], m, V[k], before, V[k + 1], scaled_next}));
      std::swap(scaled, scaled_next);
    }
  }

private:
  const Matrix &A;
  DiagonalView m;
  mutable Buffer<double> w, w_new; // used by one solver at a time
};
} // namespace

template <>
std::unique_ptr<MatrixPowers> make_plain_powers<ThisBackend>(const Matrix &A, const DiagonalView &m)
{
  return std::make_unique<PlainPowers<ThisBackend>>(A, m);
}
} // namespace femgpu::linalg
