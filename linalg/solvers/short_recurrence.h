#ifndef femgpu_linalg_solvers_short_recurrence_h
#define femgpu_linalg_solvers_short_recurrence_h

#include "linalg/execution/steps/recurrences.h"
#include "linalg/solvers/batch.h"
#include "linalg/solvers/krylov.h"

#include <memory>

namespace femgpu::linalg
{
/// What a pass through the steps of a method reads or writes.
template <class... Steps>
constexpr IterationCost cost_of(const bool is_fused, StepList<Steps...> /* loop */)
{
  IterationCost cost{0, 0, 0};
  const auto add = [&](const Multiplier multiplier, const int vectors, const bool uses_diagonal) {
    cost.products += multiplier == Multiplier::matrix ? 1 : 0;
    cost.vectors += static_cast<std::size_t>(vectors);
    const bool is_applied = !is_fused && multiplier == Multiplier::preconditioner;
    cost.applications += is_applied || uses_diagonal ? 1 : 0;
  };
  (add(Steps::multiplier, Steps::n_vectors_moved, Steps::uses_diagonal), ...);
  return cost;
}

/// @p Method with a diagonal M⁻¹, as batches want it.
template <class Method>
struct FusedForm
{
private:
  template <class... Steps>
  static StepList<typename Steps::OnChip...> on_chip(StepList<Steps...>);

public:
  using State = typename Method::State;
  using Sums = typename Method::Sums;
  static constexpr int n_vectors = Method::n_fused;
  using First = decltype(on_chip(StepsOf<Method, true, typename Method::First>()));
  using Loop = decltype(on_chip(StepsOf<Method, true, typename Method::Loop>()));
};

/**
 * The solver whose loop is a list of formulas (recurrences.h). @p Method has
 *
 *     using State = ...;  // of a KrylovState
 *     using Sums = ...;
 *     static constexpr int n_fused = ..., n_vectors = ...;  // the first two are x and r
 *     static constexpr const char *name = "cg";
 *     static constexpr bool needs_symmetry = true;          // of M
 *     static constexpr int iterations = 1;                  // of a pass of the loop
 *     using First = StepList<...>;  // from r = b − A x on, with all other vectors zero
 *     using Loop = StepList<...>;
 */
template <class Backend, class Method>
class ShortRecurrence final : public Solver
{
  using State = typename Method::State;

  template <bool is_fused>
  using First = StepsOf<Method, is_fused, typename Method::First>;
  template <bool is_fused>
  using Loop = StepsOf<Method, is_fused, typename Method::Loop>;

public:
  SolveReport solve(const Matrix &A, const Preconditioner &M, const Buffer<double> &b,
                    Buffer<double> &x, const SolveControl &control) const override
  {
    if (Method::needs_symmetry)
      require_symmetric(Method::name, M);
    const bool has_diagonal = std::holds_alternative<DiagonalView>(M.action());
    const int n_stored = has_diagonal ? Method::n_fused : Method::n_vectors;
    WorkVectors own(A, n_stored - 2);
    const auto iterate = [&](auto &iteration, const auto &m, Buffer<double> &r) {
      constexpr bool is_fused = linalg::is_fused<decltype(m)>;
      VectorSet<Method::n_vectors> v{{x.data(), r.data()}};
      for (int k = 2; k < n_stored; ++k)
        v.data[k] = own[k - 2];
      own.fill_zero();
      once(iteration, A, m, v, First<is_fused>());
      repeat(iteration, watch_for<State>(control), A, m, v, Loop<is_fused>());
    };
    return solve_with_steps<Backend, State, typename Method::Sums>(
        Method::name, A, M, b, x, control, {cost<true>(), cost<false>()}, iterate);
  }

  std::shared_ptr<const BatchMethod> batch() const override
  {
    return std::make_shared<BatchMethodOf<Backend, FusedForm<Method>>>();
  }

private:
  template <bool is_fused>
  static constexpr IterationCost cost()
  {
    const IterationCost pass = cost_of(is_fused, Loop<is_fused>());
    return {pass.products / Method::iterations, pass.vectors / Method::iterations,
            pass.applications / Method::iterations};
  }

  template <class Iteration, class M, class Vectors, class... Steps>
  static void once(Iteration &iteration, const Matrix &A, const M &m, const Vectors &v,
                   StepList<Steps...> /* steps */)
  {
    (iteration.once(step<Steps>(A, m, v)), ...);
  }
  template <class Iteration, class M, class Vectors, class... Steps>
  static void repeat(Iteration &iteration, const Watch<State> &watch, const Matrix &A, const M &m,
                     const Vectors &v, StepList<Steps...> /* steps */)
  {
    iteration.repeat(watch, step<Steps>(A, m, v)...);
  }

  template <class Step, class M, class Vectors>
  static auto step(const Matrix &A, const M &m, const Vectors &v)
  {
    const DiagonalView diagonal = fused_diagonal(m);
    if constexpr (!IsProduct<Step>::value)
      return rows(A.n(), v, diagonal, Step());
    else if constexpr (Step::multiplier == Multiplier::matrix)
      return product(A, v, diagonal, Step());
    else
      return product(*m, v, diagonal, Step());
  }
};
} // namespace femgpu::linalg

#endif
