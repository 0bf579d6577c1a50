#include "physics/time/time_scheme.h"
#include "physics/time/time_stepper.h"

#include <algorithm>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Sets @p rate to (@p u − @p w)/τ.
void set_rate(const FeVector &u, const FeVector &w, const double tau, FeVector &rate)
{
  rate = u;
  rate.sadd(1. / tau, -1. / tau, w);
}

/// Makes steps of a TimeScheme, for problems of order 1 in time.
template <int dim>
class RungeKuttaStepper final : public TimeStepper<dim>
{
public:
  RungeKuttaStepper(const TimeParameters &parameters, const Discretization<dim> &discretization,
                    StageSolver<dim> &stages, TimeState &state)
      : TimeStepper<dim>(parameters, discretization, stages, state),
        scheme(time_scheme(parameters.scheme_for(1))), rates(scheme.stages.size()),
        base(discretization.make_vector())
  {}

  /// Computes the rate from two short steps of backward Euler and linear extrapolation of their
  /// rates, which damps fast modes.
  linalg::SolveReport start(const double stop, std::map<std::string, double> &seconds) override
  {
    const double remaining = stop - state.t; // data may be undefined after the end
    const double tau = std::min(scheme.diagonal * remaining / n_steps_to(stop), remaining / 2.);
    linalg::SolveReport report = stages.solve(state.t + tau, tau, state.u, u, seconds);
    if (!report.converged())
      return report;
    set_rate(u, state.u, tau, state.rate);
    base = u;
    base.update_ghost_values();
    report = stages.solve(state.t + 2. * tau, tau, base, u, seconds);
    if (!report.converged())
      return report;
    FeVector later;
    set_rate(u, base, tau, later);
    state.rate.sadd(2., -1., later);
    state.has_rates = true;
    return report;
  }

private:
  using TimeStepper<dim>::n_steps_to;
  using TimeStepper<dim>::stages;
  using TimeStepper<dim>::state;
  using TimeStepper<dim>::u;

  int order() const override
  {
    return scheme.order;
  }

  /// Computes all stages of a step from the state. Does not change the state.
  linalg::SolveReport attempt(const double length, StepRecord &record,
                              std::map<std::string, double> &seconds) override
  {
    const double tau = scheme.diagonal * length;
    linalg::SolveReport report;
    for (std::size_t i = 0; i < scheme.stages.size(); ++i) {
      const TimeScheme::Stage &stage = scheme.stages[i];
      base = state.u;
      for (std::size_t j = 0; j < stage.explicit_rates.size(); ++j)
        if (stage.explicit_rates[j] != 0.)
          base.add(length * stage.explicit_rates[j], j == 0 ? state.rate : rates[j - 1]);
      base.update_ghost_values();
      report = stages.solve(state.t + stage.node * length, tau, base, u, seconds);
      record.nonlinear_iterations += stages.is_nonlinear() ? report.iterations : 0;
      record.linear_iterations +=
          stages.is_nonlinear() ? report.inner.linear_iterations : report.iterations;
      if (!report.converged())
        return report;
      set_rate(u, base, tau, rates[i]);
    }
    return report;
  }

  /// Returns the estimated error of the last attempt, relative to the range of u; nullopt if the
  /// scheme cannot estimate it in the first step.
  std::optional<double> estimated_error(const double length) const override
  {
    FeVector error = state.rate;
    if (!scheme.error_weights.empty()) {
      error *= length * scheme.error_weights[0];
      for (std::size_t i = 0; i < rates.size(); ++i)
        error.add(length * scheme.error_weights[i + 1], rates[i]);
    }
    else { // Δt³/12 times the second divided difference of the rates
      if (state.earlier_step == 0.)
        return {};
      const double h = length, h_0 = state.earlier_step, factor = h * h * h / (6. * (h + h_0));
      error *= -factor * (1. / h + 1. / h_0);
      error.add(factor / h, rates.back(), factor / h_0, state.earlier_rate);
    }
    const double range = state.highest - state.lowest;
    const double size = largest_magnitude(error);
    return size == 0. ? 0. : size / range;
  }

  void accept(const double /* length */, StepRecord & /* record */) override
  {
    state.earlier_rate.swap(state.rate);
    state.rate = rates.back();
  }

  /// Makes start() compute the rate of the first step again, which was for a longer step.
  void reject() override
  {
    state.has_rates = state.has_rates && state.earlier_step > 0.;
  }

  const TimeScheme &scheme;
  std::vector<FeVector> rates; ///< k_1, k_2, ...
  FeVector base;               ///< w of the last stage
};
} // namespace

template <int dim>
std::unique_ptr<TimeStepper<dim>>
make_runge_kutta_stepper(const TimeParameters &parameters,
                         const Discretization<dim> &discretization, StageSolver<dim> &stages,
                         TimeState &state)
{
  return std::make_unique<RungeKuttaStepper<dim>>(parameters, discretization, stages, state);
}

template std::unique_ptr<TimeStepper<2>> make_runge_kutta_stepper(const TimeParameters &,
                                                                  const Discretization<2> &,
                                                                  StageSolver<2> &, TimeState &);
template std::unique_ptr<TimeStepper<3>> make_runge_kutta_stepper(const TimeParameters &,
                                                                  const Discretization<3> &,
                                                                  StageSolver<3> &, TimeState &);
} // namespace femgpu
