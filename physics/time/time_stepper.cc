#include "physics/time/time_stepper.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace femgpu
{
using namespace dealii;
using linalg::Outcome;

namespace
{
constexpr double shortest_step = 1e-10; ///< relative to the end time
constexpr double equal_length = 1e-9;   ///< relative difference of equally long steps
constexpr double safety = 0.9, smallest_factor = 0.2, largest_factor = 5.;
constexpr double worthwhile_factor = 1.3; ///< smaller increases do not pay for a set-up
} // namespace

double largest_magnitude(const FeVector &x)
{
  double largest = 0.;
  for (const double x_i : x)
    largest = std::max(largest, std::abs(x_i));
  return Utilities::MPI::max(largest, x.get_mpi_communicator());
}

template <int dim>
TimeStepper<dim>::TimeStepper(const TimeParameters &parameters,
                              const Discretization<dim> &discretization, StageSolver<dim> &stages,
                              TimeState &state)
    : parameters(parameters), discretization(discretization), stages(stages), state(state),
      u(discretization.make_vector())
{
  if (state.n_steps == 0) {
    state.lowest = std::numeric_limits<double>::infinity();
    state.highest = -state.lowest;
    extend_range(state.u);
    state.step = parameters.first_step();
  }
}

/// Includes the values of @p u in the range of the state.
template <int dim>
void TimeStepper<dim>::extend_range(const FeVector &values)
{
  const MPI_Comm comm = discretization.communicator();
  double lowest = state.lowest, highest = state.highest;
  for (const double value : values) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  state.lowest = Utilities::MPI::min(lowest, comm);
  state.highest = Utilities::MPI::max(highest, comm);
}

template <int dim>
double TimeStepper<dim>::n_steps_to(const double stop) const
{
  return std::max(1., std::ceil((stop - state.t) / state.step - equal_length));
}

template <int dim>
linalg::SolveReport
TimeStepper<dim>::advance(const double stop, std::map<std::string, double> &seconds,
                          const std::function<void(const StepRecord &)> &on_attempt)
{
  const std::optional<double> fixed = parameters.fixed_step();
  const double shortest = shortest_step * parameters.end;
  bool was_rejected = false;
  while (true) {
    const Stopwatch watch;
    const double n = n_steps_to(stop);
    double length = (stop - state.t) / n;
    if (std::abs(length - state.earlier_step) <= equal_length * length)
      length = state.earlier_step; // the same matrix serves both steps
    StepRecord record;
    record.step = state.n_steps + 1;
    record.length = length;
    record.t = stop - (n - 1.) * length; // rounding does not accumulate
    const std::size_t set_ups_before = stages.n_set_ups();
    const auto end = [&](const bool is_accepted, const std::string &remark) {
      record.is_accepted = is_accepted;
      record.remark = remark;
      record.set_ups = stages.n_set_ups() - set_ups_before;
      record.seconds = watch.elapsed();
      on_attempt(record);
    };
    const bool is_shortest = length <= shortest;
    linalg::SolveReport report;
    try {
      if (!state.has_rates)
        report = start(stop, seconds);
      else
        report.outcome = Outcome::converged;
      if (report.converged())
        report = attempt(length, record, seconds);
    }
    catch (const ParameterError &error) { // thrown on all ranks: data cannot be evaluated
      report.outcome = Outcome::not_finite;
      report.message = error.what();
    }
    if (!report.converged()) {
      end(false, report.message);
      if (is_shortest)
        return report;
      reject();
      state.step = length / 2.;
      was_rejected = true;
      continue;
    }
    const double lowest = state.lowest, highest = state.highest;
    extend_range(u);
    const bool is_judged = state.earlier_step > 0. || state.n_steps == 0;
    const std::optional<double> relative_error = is_judged ? estimated_error(length) : std::nullopt;
    if (relative_error)
      record.error = *relative_error / parameters.tolerance;
    const double factor = record.error
                              ? std::clamp(safety * std::pow(*record.error, -1. / (order() + 1)),
                                           smallest_factor, largest_factor)
                              : 1.;
    if (!fixed && record.error && !(*record.error <= 1.) && !is_shortest) {
      end(false, "the local error is too large");
      reject();
      state.lowest = lowest;
      state.highest = highest;
      state.step = length * std::min(factor, 1. / worthwhile_factor);
      was_rejected = true;
      continue;
    }
    accept(length, record);
    state.u = u;
    state.u.update_ghost_values();
    state.earlier_step = length;
    state.t = record.t;
    ++state.n_steps;
    if (fixed)
      state.step = std::min(*fixed, 2. * length);
    else
      state.step = length * (was_rejected                                 ? std::min(1., factor)
                             : factor >= worthwhile_factor || factor < 1. ? factor
                                                                          : 1.);
    end(true, is_shortest && !fixed && record.error && *record.error > 1.
                  ? "the step cannot be shorter"
                  : "");
    return report;
  }
}

template class TimeStepper<2>;
template class TimeStepper<3>;
} // namespace femgpu
