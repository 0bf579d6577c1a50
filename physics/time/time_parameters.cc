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
                "adds to u at any node, relative to the range of all values of u up to that time "
                "(elasticity: relative to the largest component of u).",
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
  add_parameter("Spectral radius", spectral_radius,
                "Elasticity, Scheme = generalised-alpha: factor by which a step multiplies the "
                "fastest modes. 1: none is damped, 0: they vanish in one step.",
                prm, Patterns::Double(0., 1.));
  add_parameter("Newmark beta", newmark_beta,
                "Elasticity, Scheme = newmark: beta, at least half of gamma.", prm,
                Patterns::Double(0.));
  add_parameter("Newmark gamma", newmark_gamma,
                "Elasticity, Scheme = newmark: gamma >= 1/2. The order is 2 for 1/2, else 1.", prm,
                Patterns::Double(0.));
  add_parameter("Rayleigh mass", mass_damping,
                "Elasticity: alpha in the damping alpha M + beta K, in 1/s. A mode of angular "
                "frequency w has the damping ratio alpha/(2 w) + beta w/2.",
                prm, Patterns::Double(0.));
  add_parameter("Rayleigh stiffness", stiffness_damping,
                "Elasticity: beta in the damping alpha M + beta K, in s.", prm,
                Patterns::Double(0.));
  add_parameter("Mass", mass,
                "consistent: the capacity or density is integrated by the same Gauss points as "
                "other terms. lumped: it is integrated by the nodes, so that the matrix M of a "
                "mesh without hanging nodes is diagonal; not for triangles and tetrahedra of "
                "degree 2, nor with stabilised convection.",
                prm, Patterns::Selection("consistent|lumped"));
}

std::string TimeParameters::scheme_for(const unsigned int order_in_time) const
{
  return scheme != "auto" ? scheme : order_in_time == 2 ? "generalised-alpha" : "tr-bdf2";
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

void TimeParameters::check(const unsigned int order_in_time) const
{
  if (is_second_order(scheme_for(order_in_time)) != (order_in_time == 2))
    throw ParameterError("Scheme '" + scheme + "' of Time/Scheme is for equations of order " +
                             (order_in_time == 2 ? "1 in time, but elasticity is of order 2. Set "
                                                   "it to auto, generalised-alpha or newmark."
                                                 : "2 in time, but this physics is of order 1. Set "
                                                   "it to auto, tr-bdf2, crank-nicolson or "
                                                   "backward-euler."),
                         "Time/Scheme");
  if (scheme == "newmark" && newmark_gamma < 0.5)
    throw ParameterError("Time/Newmark gamma is less than 1/2, so that vibrations grow. Set it to "
                         "0.5 or more.",
                         "Time/Newmark gamma");
  if (scheme == "newmark" && 2. * newmark_beta < newmark_gamma)
    throw ParameterError("Time/Newmark beta is less than half of Time/Newmark gamma, so that the "
                         "scheme is unstable for long steps. Set it to gamma/2 or more.",
                         "Time/Newmark beta");
  if (order_in_time == 1 && (mass_damping > 0. || stiffness_damping > 0.))
    throw ParameterError("Rayleigh damping has no effect on this physics, which is of order 1 in "
                         "time. Remove it.",
                         mass_damping > 0. ? "Time/Rayleigh mass" : "Time/Rayleigh stiffness");
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
