#include "physics/time/time_parameters.h"

#include "linalg/base/error.h"
#include "linalg/base/text.h"
#include "physics/base/fields.h"
#include "physics/time/time_scheme.h"

#include <deal.II/base/patterns.h>

#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
constexpr const char *step_path = "Time/Step", *output_path = "Time/Output times";
constexpr double max_stops = 1e6;
} // namespace

TimeParameters::TimeParameters() : ParameterAcceptor("/Time")
{
  add_parameter("End time", end,
                "The time t at which a transient analysis ends; it begins at t = 0. Must be given "
                "for Analysis = transient.",
                prm, Patterns::Double(0.));
  add_parameter("Scheme", scheme, "Time integrator. " + meanings_of(time_scheme_choices()), prm,
                Patterns::Selection(selection_of(time_scheme_choices())));
  add_parameter("Step", step,
                "auto: the length of each step follows from the estimated local error and "
                "Tolerance. A number: the length of all steps; steps before an output time are "
                "shortened equally, so that the last one ends there.");
  add_parameter("Initial step", initial_step,
                "Length of the first step if Step is auto. 0: a thousandth of End time.", prm,
                Patterns::Double(0.));
  add_parameter("Tolerance", tolerance,
                "Largest local error of a step if Step is auto: the estimated error that the step "
                "adds to u at any node, relative to the range of all values of u up to that time.",
                prm, Patterns::Double(1e-12, 1.));
  add_parameter("Output times", output_times,
                "Times at which femgpu writes files for ParaView, measurements and the rows of "
                "time.csv, besides t = 0 and End time. all: after each step. every D: at multiples "
                "of D. Or a list, such as '1, 2, 5'.");
  add_parameter(
      "Adapt every", adapt_every,
      "Number of steps after which femgpu refines and coarsens the mesh, by the estimated "
      "error and the parameters of section Study, with Refinement = adaptive. 0: the mesh "
      "is constant in time.",
      prm, Patterns::Integer(0, 1000000));
}

std::optional<double> TimeParameters::fixed_step() const
{
  return step == "auto" ? std::nullopt : finite_number(step);
}

double TimeParameters::first_step() const
{
  return fixed_step().value_or(initial_step > 0. ? initial_step : end / 1000.);
}

bool TimeParameters::outputs_all_steps() const
{
  return trimmed(output_times) == "all";
}

std::vector<double> TimeParameters::stops() const
{
  if (outputs_all_steps())
    return {end};
  const auto reject = [&](const std::string &why) {
    throw ParameterError("'" + output_times + "' of " + output_path + " " + why +
                             ". Write all, every D, or ascending times, such as '1, 2, 5'.",
                         output_path);
  };
  const std::string every = "every ";
  std::vector<double> times;
  if (trimmed(output_times).rfind(every, 0) == 0) {
    const auto interval = finite_number(trimmed(trimmed(output_times).substr(every.size())));
    if (!interval || !(*interval > 0.) || end / *interval > max_stops)
      reject("has no positive interval of sufficient length");
    for (double k = 1.; k * *interval < end * (1. - 1e-9); k += 1.)
      times.push_back(k * *interval);
  }
  else
    for (const std::string &entry : entries_of(output_times, ',')) {
      const auto time = finite_number(entry);
      if (!time || !(*time >= 0.) || *time > end)
        reject("contains '" + entry + "', which is not a time from 0 to End time");
      if (!times.empty() && !(*time > times.back()))
        reject("is not in ascending order");
      if (*time > 0. && *time < end)
        times.push_back(*time);
    }
  times.push_back(end);
  return times;
}

void TimeParameters::check() const
{
  if (!(end > 0.))
    throw ParameterError("A transient analysis needs an end. Set Time/End time to a positive time.",
                         "Time/End time");
  if (step != "auto" && !(fixed_step().value_or(0.) > 0.))
    throw ParameterError("'" + step + "' of " + step_path +
                             " is neither auto nor a positive number. Set it to the length of a "
                             "step.",
                         step_path);
  if (step != "auto" && end / *fixed_step() > 1e9)
    throw ParameterError("Time/Step = " + step + " needs more than 1e9 steps. Set a longer step.",
                         step_path);
  if (initial_step > end)
    throw ParameterError("Time/Initial step is longer than Time/End time. Lower it.",
                         "Time/Initial step");
  stops();
}
} // namespace femgpu
