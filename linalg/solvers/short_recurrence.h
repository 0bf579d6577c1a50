#ifndef femgpu_linalg_solvers_short_recurrence_h
#define femgpu_linalg_solvers_short_recurrence_h

#include "linalg/solvers/batch.h"
#include "linalg/solvers/krylov.h"
#include "linalg/steps/recurrences.h"

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>

namespace femgpu::linalg
{
/// Adds the reads and writes of one run of @p Step, a step of steps/recurrences.h, to @p cost.
template <class Step>
constexpr void add_cost(const bool is_fused, IterationCost &cost, const Step * /* type */)
{
  cost.products += Step::multiplier == Multiplier::matrix ? 1 : 0;
  cost.vectors += static_cast<std::size_t>(Step::n_vectors_moved);
  const bool is_applied = !is_fused && Step::multiplier == Multiplier::preconditioner;
  cost.applications += is_applied || Step::uses_diagonal ? 1 : 0;
}
template <class... Steps>
constexpr void add_cost(const bool is_fused, IterationCost &cost,
                        const StepList<Steps...> * /* type */)
{
  (add_cost(is_fused, cost, static_cast<const Steps *>(nullptr)), ...);
}

/// Returns the cost of one pass of a loop, in which inner loops run once.
template <class Loop>
constexpr IterationCost cost_of(const bool is_fused)
{
  IterationCost cost{0, 0, 0};
  add_cost(is_fused, cost, static_cast<const Loop *>(nullptr));
  return cost;
}

/// Creates the steps of a StepList and runs them.
/// @tparam Data type of the member `data` of formulas (steps/recurrences.h)
template <class M, int n_vectors, class Data = std::nullptr_t>
struct StepMaker
{
  const Matrix &A;
  const M &m;
  VectorSet<n_vectors> v;
  Data data = {};

  template <class Iteration, class... Steps>
  void once(Iteration &iteration, StepList<Steps...> /* steps */) const
  {
    (iteration.once(step<Steps>()), ...);
  }
  template <class Iteration, class State, class... Steps>
  void repeat(Iteration &iteration, const Watch<State> &watch, StepList<Steps...> /* steps */) const
  {
    std::apply([&](const auto &...steps) { iteration.repeat(watch, steps...); },
               std::tuple_cat(steps_of(static_cast<const Steps *>(nullptr))...));
  }

private:
  template <class Step>
  auto steps_of(const Step * /* type */) const
  {
    return std::tuple(step<Step>());
  }
  template <class... Steps>
  auto steps_of(const StepList<Steps...> * /* type */) const
  {
    return std::tuple(step<Steps>()..., inner_loop(step<Steps>()...));
  }

  template <class Step>
  auto step() const
  {
    const DiagonalView diagonal = fused_diagonal(m);
    Step body;
    if constexpr (!std::is_empty_v<Step>)
      body.formula_with_data.data = data;
    if constexpr (!IsProduct<Step>::value)
      return rows(A.n(), v, diagonal, body);
    else if constexpr (Step::multiplier == Multiplier::matrix)
      return product(A, v, diagonal, body);
    else
      return product(*m, v, diagonal, body);
  }
};

/// The form of @p Method for batches, in which a diagonal M⁻¹ is fused into the steps.
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
 * A solver whose loop is a list of formulas (steps/recurrences.h). @p Method supplies
 *
 *     using State = ...;  // derived from KrylovState
 *     using Sums = ...;
 *     static constexpr int n_fused = ..., n_vectors = ...;  // with a fused M⁻¹, and otherwise; the
 *                                                           // first two vectors are x and r
 *     static constexpr const char *name = "cg";
 *     static constexpr bool needs_symmetry = true;          // M must be symmetric
 *     static constexpr int iterations = 1;                  // per pass of the loop
 *     using First = StepList<...>;  // run before the loop; r = b − A x, and all vectors except x
 *                                   // and r are zero
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
    WorkVectors work(A, n_stored - 1); // all but x
    const auto iterate = [&](auto &iteration, const auto &m, double * /* initial_x */) {
      constexpr bool is_fused = linalg::is_fused<decltype(m)>;
      VectorSet<Method::n_vectors> v{{x.data()}};
      for (int k = 1; k < n_stored; ++k)
        v.data[k] = work[k - 1];
      work.fill_zero();
      const StepMaker<std::decay_t<decltype(m)>, Method::n_vectors> steps{A, m, v};
      steps.once(iteration, First<is_fused>());
      steps.repeat(iteration, watch_for<State>(control), Loop<is_fused>());
    };
    return solve_with_steps<Backend, State, typename Method::Sums>(
        Method::name, A, M, b, x, work[0], control, {cost<true>(), cost<false>()}, iterate);
  }

  std::shared_ptr<const BatchMethod> batch() const override
  {
    return std::make_shared<BatchMethodOf<Backend, FusedForm<Method>>>();
  }

private:
  template <bool is_fused>
  static constexpr IterationCost cost()
  {
    const IterationCost pass = cost_of<Loop<is_fused>>(is_fused);
    return {pass.products / Method::iterations, pass.vectors / Method::iterations,
            pass.applications / Method::iterations};
  }
};
} // namespace femgpu::linalg

#endif
