#include "linalg/execution/this_backend.h"
#include "linalg/powers/basis_step.h"
#include "linalg/powers/forms.h"
#include "linalg/steps/row_bodies.h"

#include <utility>
#include <variant>

namespace femgpu::linalg
{
namespace
{
/// Computes v_{k+1} from A M⁻¹ v_k, and also M⁻¹ v_{k+1} if M is diagonal, but not a multiple of I.
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
    const double next_i = next_basis_entry(step, AMv_i, v[i], step.square != 0. ? before[i] : 0.);
    next[i] = next_i;
    if (!m.is_uniform())
      scaled[i] = m.inverse[i] * next_i;
  }
};

/// Computes w = M⁻¹ v.
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
  PlainPowers(const Matrix &A, const Preconditioner::Action &M) : MatrixPowers(A.domain()), A(A)
  {
    if (const auto *const diagonal = std::get_if<DiagonalView>(&M))
      m = *diagonal;
    else
      M_operator = std::get<const PreconditionerOperator *>(M);
    const bool stores_v = !m.is_uniform() || M_operator != nullptr;
    w = Buffer<double>(A.executor(), stores_v ? A.domain()->n_with_ghosts() : 0);
    w_new = Buffer<double>(A.executor(), m.is_uniform() ? 0 : w.size());
    const std::size_t vectors = stores_v ? 5 : 2;
    properties = {M_operator != nullptr ? "one product with M and one with A per step"
                                        : "plain: one product per step",
                  w.bytes() + w_new.bytes(), 1, 0,
                  A.bytes() + vectors * sizeof(double) * static_cast<std::size_t>(A.n())};
  }

protected:
  void run(const Columns &V, const std::vector<BasisStep> &steps) const override
  {
    Runner<Backend> runner(*A.executor());
    if (!m.is_uniform())
      runner.run(rows(A.n(), ScaleVector{m.inverse, V[0], w.data()}));
    double *scaled = w.data(), *scaled_next = w_new.data();
    for (int k = 0; k < static_cast<int>(steps.size()); ++k) {
      const double *const before = V[k > 0 ? k - 1 : 0]; // read only if steps[k].square != 0
      if (M_operator != nullptr)
        runner.run(product(*M_operator, V[k], StoreProduct{scaled}));
      runner.run(product(A, w.size() == 0 ? V[k] : scaled,
                         NextVector{steps[k], m, V[k], before, V[k + 1], scaled_next}));
      if (!m.is_uniform())
        std::swap(scaled, scaled_next);
    }
  }

private:
  const Matrix &A;
  DiagonalView m;
  const PreconditionerOperator *M_operator = nullptr; ///< M⁻¹ if it is not diagonal, else nullptr
  mutable Buffer<double> w, w_new;                    // used by one solver at a time
};
} // namespace

template <>
std::unique_ptr<MatrixPowers> make_plain_powers<ThisBackend>(const Matrix &A,
                                                             const Preconditioner::Action &M)
{
  return std::make_unique<PlainPowers<ThisBackend>>(A, M);
}
} // namespace femgpu::linalg
